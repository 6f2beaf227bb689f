import { Socket } from 'node:net';
import { Calls } from '../../kernel/process-calls.ts';
import type { Bootstrap } from '../bootstrap.ts';
import type { Config } from '../config.ts';
import type { Addresses } from '../listeners.ts';
import type { Metrics } from '../metrics.ts';
import type { AuthorityOperations, Welcome } from './operations.ts';

/** Behind the three of every process and the channel of `node:cluster`. */
export const LINK_FD = 4;

/** The process that has started this one, and has the caps. */
export interface AuthorityLink {
  readonly calls: Calls<AuthorityOperations>;
  readonly welcome: Welcome;
  /** This worker has bound its addresses. @returns once it is to be ready */
  listening(addresses: Addresses, metrics: Pick<Metrics, 'collect'>): Promise<Bootstrap>;
  close(): void;
}

/** @param onLost the authority is gone: nothing may be admitted or settled here any more */
export async function joinAuthority(onLost: () => void): Promise<AuthorityLink> {
  const serving = Promise.withResolvers<Bootstrap>();
  let isClosing = false;
  const calls = new Calls<AuthorityOperations>(new Socket({ fd: LINK_FD }), { serve: serving.resolve }, () => {
    if (!isClosing) onLost();
  });
  return {
    calls,
    welcome: await calls.call('welcome'),
    async listening(addresses, metrics) {
      calls.offer({ metrics: () => metrics.collect() });
      await calls.call('listening', addresses);
      return serving.promise;
    },
    close: () => {
      isClosing = true;
      calls.close();
    },
  };
}

/** The settings of one worker: what the authority has made for all, and its part of what is counted in the memory of a process. */
export function configOfWorker(config: Config, { internalSecret, metricsToken }: Welcome): Config {
  const part = (limit: number) => Math.ceil(limit / config.workers);
  return {
    ...{ ...config, internalSecret, metricsToken },
    refusalsPerMinute: part(config.refusalsPerMinute),
    realtimeSessionsPerKey: part(config.realtimeSessionsPerKey),
    disconnected: { ...config.disconnected, callsPerKey: part(config.disconnected.callsPerKey) },
  };
}
