import { inject } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { connectRedis, type RedisConnection, ready } from './connect.ts';

/** Whether this run has no Redis: for `describe.skipIf`. */
export const isRedisMissing = (): boolean => inject('testRedis').url === '';

/** A server program for tests that need one of their own; empty where there is none. */
export const testRedisProgram = (): string => inject('testRedis').program;

export const testRedisUrl = (): string => inject('testRedis').url;

/** Other work on the machine may take so long from a test of a thousand requests at once. */
const PATIENCE_MS = 120_000;

/** A connection to the run's Redis, as gateways make it, which only waits longer. */
export async function testRedis(url: string = testRedisUrl()): Promise<RedisConnection> {
  const redis = connectRedis(url, silentLog(), 'prompt', PATIENCE_MS);
  await ready(redis, PATIENCE_MS);
  return redis;
}
