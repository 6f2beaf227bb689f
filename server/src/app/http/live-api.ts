import { contract, type LiveFigures } from '@tallygate/contract';
import { Problem } from '../../kernel/problem.ts';
import type { LiveAccounts } from '../../money/live/index.ts';
import type { AccessControl } from './access-control.ts';
import { whenClosed } from './closed.ts';
import { type Exchange, grantOf } from './exchange.ts';
import { queryOf } from './query.ts';
import type { ServedRoute } from './router.ts';
import { queryParamsOf } from './target.ts';

const { get: LIVE } = contract.live;
/** How often a stream looks whether the gateway stops. */
const LOOK_MS = 500;
/** Proxies cut what is silent. */
const PING_MS = 15_000;
/** A session that was ended, or a role that was taken away, ends the stream within so long, where there is nothing to tell before. */
const RENEWED_MS = 10_000;
/** Who does not read is not waited for: it begins again. */
const MOST_UNREAD_BYTES = 4 * 1024 * 1024;
/** For so long what was written may still be read once the stream has ended. */
const LINGER_MS = 15_000;

interface LiveApiDeps {
  readonly accounts: LiveAccounts;
  readonly accessControl: AccessControl;
  readonly isDraining: () => boolean;
}

/** `GET /v1/live?stream=true`: what its route returns once, as it changes. */
export const withLiveStream = (routes: readonly ServedRoute[], deps: LiveApiDeps): ServedRoute[] =>
  routes.map((served) =>
    served.method === LIVE.method && served.path === LIVE.path
      ? { ...served, answer: (exchange) => (isStream(exchange) ? stream(exchange, deps) : served.answer(exchange)) }
      : served,
  );

const isStream = ({ req: { method, url = '' } }: Exchange): boolean => method === 'GET' && queryParamsOf(url).get('stream') === 'true';

function stream(exchange: Exchange, { accounts, accessControl, isDraining }: LiveApiDeps): void {
  const { res } = exchange;
  queryOf(exchange, LIVE.query);
  const write = (changed: LiveFigures): void => {
    if (res.writableLength > MOST_UNREAD_BYTES) res.destroy();
    else if (!res.writableEnded) res.write(`data: ${JSON.stringify(changed)}\n\n`);
  };
  /** In their order. Who may not follow any more is told nothing: a member who was removed has no session a second later. */
  let told = Promise.resolve();
  const tell = (changed: LiveFigures): void => {
    told = told.then(async () => ((await mayStillFollow(exchange, accessControl)) ? write(changed) : end()));
  };
  const followed = accounts.follow(grantOf(exchange).principal, tell, () => end());
  const stop = (): void => {
    followed.close();
    for (const timer of timers) clearInterval(timer);
  };
  // Once: until its client has read all, an answer that has ended is still open, and to write to it would end the process.
  const end = (): void => {
    stop();
    if (res.writableEnded) return;
    // By its last event a client tells this end from a connection that broke.
    res.end('data: [DONE]\n\n');
    setTimeout(() => res.destroy(), LINGER_MS).unref();
  };
  const timers = [
    setInterval(() => isDraining() && end(), LOOK_MS),
    setInterval(() => res.write(': ping\n\n'), PING_MS),
    setInterval(() => void mayStillFollow(exchange, accessControl).then((mayFollow) => mayFollow || end()), RENEWED_MS),
  ];
  whenClosed(res, stop);
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
  res.flushHeaders();
}

/** A store that cannot be asked at the moment says nothing against the caller. */
async function mayStillFollow(exchange: Exchange, accessControl: AccessControl): Promise<boolean> {
  try {
    await accessControl.recheck(exchange, { metadata: LIVE.metadata });
    return true;
  } catch (thrown) {
    return thrown instanceof Problem && thrown.code === 'store_unavailable';
  }
}
