import { hash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

/** A connection to one Redis, or to a cluster. */
export type RedisConnection = Redis | Cluster;

export interface Script {
  readonly source: string;
  /** SHA-1, by which a server knows it. */
  readonly digest: string;
}

export const defineScript = (source: string): Script => ({ source, digest: hash('sha1', source, 'hex') });

/** Runs a script by its digest; a server that does not know it (a new one, one that was restarted) is given its text. */
export async function runScript(redis: RedisConnection, script: Script, key: string, args: readonly (string | number)[]): Promise<unknown> {
  try {
    return await redis.evalsha(script.digest, 1, key, ...args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return await redis.eval(script.source, 1, key, ...args);
  }
}
