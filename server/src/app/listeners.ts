import type { Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { InferenceDeps } from '../inference/calls/index.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';
import type { Readiness } from './health.ts';
import { createFront, drain, type FrontDeps, listenOn } from './http/front.ts';
import type { ServedRoute } from './http/router.ts';

/** What ending the last connections takes, once they are cut. */
const DRAIN_SLACK_MS = 5_000;

/** What the address for dedicated traffic has beside inference. */
const ALSO_DEDICATED = new Set(['/v1/models', '/v1/models/:model', '/health/live', '/health/ready']);

/** Inference for keys with dedicated capacity, and what its clients and load balancers ask for beside it. */
export const createDedicatedFront = (
  deps: Omit<FrontDeps, 'routes'>,
  routes: { readonly inference: readonly ServedRoute[]; readonly others: readonly ServedRoute[] },
): Server => createFront({ ...deps, routes: [...routes.inference, ...routes.others.filter(({ path }) => ALSO_DEDICATED.has(path))] });

interface ListenersDeps {
  readonly config: Pick<Config, 'host' | 'port' | 'dedicated' | 'drain'>;
  readonly closing: Closing;
  readonly readiness: Readiness;
  readonly running: InferenceDeps['running'];
}

/**
 * Binds both addresses; dedicated traffic has connections and a queue of them for itself.
 * @param fronts `dedicated` is undefined where none is configured
 * @returns where everybody else is answered, and, where there is one, the address for dedicated traffic
 */
export async function openListeners(
  fronts: { readonly shared: Server; readonly dedicated: Server | undefined },
  { config, closing, readiness, running }: ListenersDeps,
): Promise<{ url: string; dedicatedUrl: string | undefined }> {
  const { delayMs, timeoutMs } = config.drain;
  const servers = [fronts.shared, ...(fronts.dedicated ? [fronts.dedicated] : [])];
  closing.add(
    'requests',
    async () => {
      readiness.drain();
      await setTimeout(delayMs);
      await Promise.all([
        ...servers.filter(({ listening }) => listening).map((server) => drain(server, timeoutMs)),
        running.drain(timeoutMs),
      ]);
    },
    delayMs + timeoutMs + DRAIN_SLACK_MS,
  );
  const bind = async (server: Server, port: number) => {
    const bound = await listenOn(server, config.host, port);
    return `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${bound}`;
  };
  const url = await bind(fronts.shared, config.port);
  const dedicatedUrl = fronts.dedicated && config.dedicated ? await bind(fronts.dedicated, config.dedicated.port) : undefined;
  return { url, dedicatedUrl };
}
