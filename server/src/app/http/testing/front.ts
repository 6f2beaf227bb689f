import type { Clock } from '../../../kernel/clock.ts';
import { type Log, silentLog } from '../../../kernel/log.ts';
import { AccessControl } from '../access-control.ts';
import { createAnswerHeaders } from '../answer-headers.ts';
import type { Authenticator } from '../credentials.ts';
import { createFront, listenOn } from '../front.ts';
import { createPeerAddress } from '../peer-address.ts';
import { createProblemReply } from '../problem-document.ts';
import { RefusalLimits } from '../refusal-limits.ts';
import { Refusals } from '../refusals.ts';
import type { ServedRoute } from '../router.ts';

export const PUBLIC_URL = 'https://tallygate.test';

/** What routes are given to be served with. */
export interface FrontParts {
  readonly accessControl: AccessControl;
  readonly refusals: Refusals;
}

/** Routes behind the gateway's own front, on a separate port. */
export type FrontUnderTest = Awaited<ReturnType<typeof openFrontUnderTest>>;

interface Options {
  readonly authenticator?: Authenticator;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly lingerMs?: number;
  /** Of each caller. Default: no limit; a test refuses more in a minute than anybody may. */
  readonly refusalsPerMinute?: number;
}

export async function openFrontUnderTest(
  routesOf: (parts: FrontParts) => readonly ServedRoute[],
  {
    authenticator = NOBODY,
    clock = { now: Date.now },
    log = silentLog(),
    lingerMs,
    refusalsPerMinute = Number.MAX_SAFE_INTEGER,
  }: Options = {},
) {
  const problemReply = createProblemReply(() => PUBLIC_URL);
  const parts: FrontParts = { accessControl: new AccessControl(authenticator), refusals: new Refusals({ log, problemReply }) };
  // Tests count as a trusted proxy: a caller's address is what they say in X-Forwarded-For.
  const refusalLimits = new RefusalLimits({ perMinute: refusalsPerMinute, peerAddress: createPeerAddress(['127.0.0.1']) });
  const headers = createAnswerHeaders({ isHttps: false });
  const routes = routesOf(parts);
  const server = createFront({
    ...parts,
    refusalLimits,
    routes,
    headers,
    problemReply,
    clock,
    log,
    ...(lingerMs !== undefined && { lingerMs }),
  });
  const port = await listenOn(server, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** For routes that ask for no credential. */
const NOBODY: Authenticator = {
  authenticate: () => {
    throw new Error('There are no users here');
  },
  requireStoring: () => undefined,
  requireInternalSecret: () => {},
};
