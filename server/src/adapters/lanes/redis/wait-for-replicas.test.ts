import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type RedisProcess, startRedis } from '../../redis/redis-process.ts';
import { testRedisProgram } from '../../redis/test-redis.ts';

const PROMPTLY = ['--repl-diskless-sync-delay', '0'];
const WAIT_MS = 60_000;

async function redis(...settings: readonly string[]): Promise<RedisProcess> {
  const server = await startRedis(testRedisProgram(), [...PROMPTLY, ...settings]);
  onTestFinished(() => server.stop());
  return server;
}

async function follows(replica: RedisProcess): Promise<void> {
  while (!String(await replica.call('INFO', 'replication')).includes('master_link_status:up')) await delay(20);
}

// Why settlements are in the journals of gateways, and replicas are not waited for.
describe.skipIf(testRedisProgram() === '')('what WAIT has acknowledged', () => {
  test('is lost where another replica than the one that was waited for takes over', async () => {
    const master = await redis();
    const following = ['--replicaof', '127.0.0.1', `${master.port}`];
    const [heard, deaf] = [await redis(...following), await redis(...following)];
    await Promise.all([follows(heard), follows(deaf)]);
    await deaf.call('REPLICAOF', '127.0.0.1', 1);
    await master.call('SET', 'settled', 'yes');
    expect(await master.call('WAIT', 1, WAIT_MS)).toBe(1);
    await master.kill();
    await deaf.call('REPLICAOF', 'NO', 'ONE');
    expect(await deaf.call('GET', 'settled')).toBeNull();
  });

  test('is written all the same where no replica has heard of it: nothing can be taken back', async () => {
    const master = await redis();
    await master.call('SET', 'settled', 'yes');
    expect(await master.call('WAIT', 1, 1)).toBe(0);
    expect(await master.call('GET', 'settled')).toBe('yes');
  });
});
