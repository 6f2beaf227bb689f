import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type RedisProcess, startRedis } from './redis-process.ts';
import { redisServerProgram } from './server-program.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the run's Redis, and the program that further ones can be started from; empty where there is none. */
    testRedis: { readonly url: string; readonly program: string };
  }
}

const CACHE = join(import.meta.dirname, '../../../node_modules/.cache');

/** One Redis for a whole test run: that of TEST_REDIS_URL, else a server of its own. Without any, the suites over Redis are skipped, and it says so. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['TEST_REDIS_URL'];
  const program = (await redisServerProgram(process.env['PATH'] ?? '', CACHE)) ?? '';
  if (program === '' && given === undefined) {
    process.stdout.write('\nNo Redis: the tests over Redis are skipped. Put redis-server on PATH, or set TEST_REDIS_URL.\n\n');
    project.provide('testRedis', { url: '', program });
    return undefined;
  }
  let server: RedisProcess | undefined;
  if (given === undefined) server = await startRedis(program);
  project.provide('testRedis', { url: given ?? server?.url ?? '', program });
  return () => server?.stop() ?? Promise.resolve();
}
