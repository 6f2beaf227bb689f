import type { Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { InferenceDeps, RealtimeSessions } from '../inference/calls/index.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';
import type { Readiness } from './health.ts';
import { createFront, drain, type FrontDeps, listenOn } from './http/front.ts';
import type { ServedRoute } from './http/router.ts';

/** What ending the last connections takes, and settling the calls that are cut. */
const DRAIN_SLACK_MS = 8_000;
/** Of it, for what is said to the clients of calls that were cut. */
const LAST_WORDS_MS = 1_000;

/** What the address for dedicated traffic has beside inference. */
const ALSO_DEDICATED = new Set(['/v1/models', '/v1/models/:model', '/health/live', '/health/ready']);

/** Inference for keys with dedicated capacity, and what its clients and load balancers ask for beside it. */
export const createDedicatedFront = (
  deps: Omit<FrontDeps, 'routes'>,
  routes: { readonly inference: readonly ServedRoute[]; readonly others: readonly ServedRoute[] },
): Server => createFront({ ...deps, routes: [...routes.inference, ...routes.others.filter(({ path }) => ALSO_DEDICATED.has(path))] });

/** What is for operators, and has an address of its own where one is configured. */
const FOR_OPERATORS = new Set(['/metrics', '/health/live', '/health/ready']);

/** Which routes the address for everybody has, and which are answered at that for operators alone; undefined where there is no such address. */
export function routesByAddress(
  routes: readonly ServedRoute[],
  { operations }: Pick<Config, 'operations'>,
): { readonly shared: readonly ServedRoute[]; readonly operations: readonly ServedRoute[] | undefined } {
  if (!operations) return { shared: routes, operations: undefined };
  const isForOperators = ({ path }: ServedRoute) => FOR_OPERATORS.has(path);
  return { shared: routes.filter((route) => !isForOperators(route)), operations: routes.filter(isForOperators) };
}

export interface Fronts {
  readonly shared: Server;
  /** Undefined where none is configured. */
  readonly dedicated: Server | undefined;
  readonly operations: Server | undefined;
}

export interface Addresses {
  readonly url: string;
  /** Where dedicated traffic is answered, where that is configured. */
  readonly dedicatedUrl: string | undefined;
  /** Where operators read metrics and health, where that is another address. */
  readonly operationsUrl: string | undefined;
}

/** Where another process accepts the connections and hands them over: when none has come for so long, none is on its way. */
const QUIET_MS = 250;
/** New ones that keep coming must not keep a worker. */
const QUIET_WITHIN_MS = 5_000;

async function noneOnTheWay(servers: readonly Server[]): Promise<void> {
  let dealt = 0;
  const count = () => {
    dealt += 1;
  };
  for (const server of servers) server.on('connection', count);
  const until = performance.now() + QUIET_WITHIN_MS;
  for (let before = -1; before !== dealt && performance.now() < until; ) {
    before = dealt;
    await setTimeout(QUIET_MS);
  }
  for (const server of servers) server.off('connection', count);
}

interface ListenersDeps {
  /** What accepts the connections where this process does not. */
  readonly authority: object | undefined;
  readonly config: Pick<Config, 'host' | 'port' | 'dedicated' | 'operations' | 'drain'>;
  readonly closing: Closing;
  readonly readiness: Readiness;
  readonly inference: {
    readonly running: InferenceDeps['running'];
    readonly sessions: Pick<RealtimeSessions, 'drain'>;
  };
}

/** Binds all addresses; dedicated traffic has connections and a queue of them for itself. */
export async function openListeners(
  fronts: Fronts,
  { config, closing, readiness, inference: { running, sessions }, authority }: ListenersDeps,
): Promise<Addresses> {
  const { delayMs, timeoutMs } = config.drain;
  const servers = [fronts.shared, fronts.dedicated, fronts.operations].filter((server) => server !== undefined);
  closing.add(
    'requests',
    async () => {
      readiness.drain();
      await setTimeout(delayMs);
      if (authority) await noneOnTheWay(servers);
      sessions.drain();
      const ended = running.drain(timeoutMs);
      const answered = ended.then(() => running.isStopping && setTimeout(LAST_WORDS_MS, undefined, { ref: false }));
      await Promise.all([...servers.filter(({ listening }) => listening).map((server) => drain(server, timeoutMs, answered)), ended]);
      // What waited for a store while the last call ended may have begun since. Its provider's answer is not read to the end, so it must be cut.
      await running.stop();
    },
    delayMs + timeoutMs + DRAIN_SLACK_MS,
  );
  const bind = async (server: Server, address: Parameters<typeof listenOn>[1]) => {
    const { host } = address;
    const bound = await listenOn(server, address);
    return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  };
  const { host, port, dedicated, operations } = config;
  return {
    url: await bind(fronts.shared, { host, port, variable: 'PORT' }),
    dedicatedUrl:
      fronts.dedicated && dedicated && (await bind(fronts.dedicated, { host, port: dedicated.port, variable: 'ENTERPRISE_PORT' })),
    operationsUrl: fronts.operations && operations && (await bind(fronts.operations, { ...operations, variable: 'OPERATIONS_PORT' })),
  };
}
