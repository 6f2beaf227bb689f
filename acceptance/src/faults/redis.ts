import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedisCluster } from '../../../server/src/adapters/redis/redis-cluster-process.ts';
import { type RedisProcess, startRedis } from '../../../server/src/adapters/redis/redis-process.ts';
import { startWatchedRedis } from '../../../server/src/adapters/redis/redis-sentinel-process.ts';

/** No acknowledged write is lost at a `kill -9`. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

export type RedisForm = 'single' | 'sentinel' | 'cluster';

/** The Redis of a service, in one of its three forms. */
export interface RedisUnderFaults {
  readonly url: string;
  /** The servers that gateways ask now. */
  nodes(): Promise<readonly RedisProcess[]>;
  /** Where there are replicas: one follows no master any more, and misses every write from now on. */
  severReplica?(): Promise<void>;
  /** Where there are replicas: kills a master, waits until its replica is promoted, and starts it again. */
  failOver?(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRedisOf(form: RedisForm, program: string): Promise<RedisUnderFaults> {
  switch (form) {
    case 'single': {
      const server = await startRedis(program, DURABLE);
      return { url: server.url, nodes: async () => [server], stop: () => server.stop() };
    }
    case 'sentinel': {
      const watched = await startWatchedRedis(program, DURABLE);
      return {
        url: watched.url,
        nodes: async () => [await watched.current()],
        severReplica: watched.severReplica,
        failOver: watched.failOver,
        stop: watched.stop,
      };
    }
    case 'cluster': {
      const cluster = await startRedisCluster(program, 3, [...DURABLE, '--cluster-node-timeout', '2000'], 1);
      return { url: cluster.url, nodes: cluster.masters, failOver: cluster.failOver, stop: cluster.stop };
    }
    default:
      return form satisfies never;
  }
}

export const flush = (server: RedisProcess): Promise<unknown> => server.call('FLUSHALL');

/** @returns what stops the server and starts it again with what it has now, later writes forgotten */
export function rememberFiles(server: RedisProcess): { restore(): Promise<void>; forget(): void } {
  const kept = mkdtempSync(join(tmpdir(), 'tallygate-older-redis-'));
  cpSync(server.folder, kept, { recursive: true });
  return {
    restore: async () => {
      await server.kill();
      rmSync(server.folder, { recursive: true });
      cpSync(kept, server.folder, { recursive: true });
      await server.start();
    },
    forget: () => rmSync(kept, { recursive: true, force: true }),
  };
}

/** As if Redis's clock had advanced: every lease and every uncertain hold is older by so much. */
export async function passTime(redis: RedisUnderFaults, ms: number): Promise<void> {
  for (const server of await redis.nodes()) {
    for (const kind of ['leases', 'doubt']) {
      for (const key of (await server.call('KEYS', `*:${kind}`)) as string[]) await server.call('EVAL', EARLIER, 1, key, ms);
    }
  }
}

const EARLIER = "for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZINCRBY', KEYS[1], -ARGV[1], id) end";
