import { afterEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { connectRedis, parseRedisUrl, type RedisConnection, ready } from './connect.ts';
import { type RedisProcess, startRedis } from './redis-process.ts';
import { startWatchedRedis } from './redis-sentinel-process.ts';
import { requireFitness } from './requirements.ts';
import { testRedisProgram } from './test-redis.ts';

describe('the URL of a Redis', () => {
  test.each([
    ['redis://localhost', { kind: 'single', nodes: [{ host: 'localhost', port: 6379 }], tls: false, database: 0 }],
    ['rediss://me:s%3Acret@10.0.0.1:7000/3', { tls: true, username: 'me', password: 's:cret', database: 3, nodes: [{ port: 7000 }] }],
    ['redis://[::1]:6380', { nodes: [{ host: '::1', port: 6380 }] }],
    [
      'redis+cluster://a:1,b:2',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
      },
    ],
    ['redis+sentinel://a,b:2/main', { kind: 'sentinel', masterName: 'main', nodes: [{ port: 26379 }, { port: 2 }] }],
  ])('%s is understood', (url, address) => {
    expect(parseRedisUrl(url)).toMatchObject(address);
  });

  test.each([
    'http://localhost',
    'redis://',
    'redis://a,b',
    'redis://a/names',
    'redis+cluster://a,b/1',
    'redis+sentinel://a,b',
    'redis+ring://a',
    'redis://a:b:c',
  ])('%s is refused', (url) => {
    expect(() => parseRedisUrl(url)).toThrow(TypeError);
  });
});

describe.skipIf(testRedisProgram() === '')('a connection to Redis', () => {
  let server: RedisProcess | undefined;
  let redis: RedisConnection | undefined;

  async function open(...settings: string[]): Promise<RedisConnection> {
    server = await startRedis(testRedisProgram(), settings);
    redis = connectRedis(server.url, silentLog(), 'prompt');
    await ready(redis);
    return redis;
  }

  afterEach(async () => {
    redis?.disconnect();
    await server?.stop();
  });

  test('refuses at once while its server is gone, and works again when it is back', async () => {
    const connection = await open('--appendonly', 'yes', '--appendfsync', 'always');
    await connection.set('kept', 'yes');
    const lost = new Promise((resolve) => connection.once('close', resolve));
    await server?.kill();
    await lost;
    // A command that waits for its server is given up by its time.
    await expect(connection.get('kept')).rejects.toThrow(/^(?!.*timed out)/);
    await server?.start();
    await expect.poll(() => connection.get('kept').catch(() => undefined), { timeout: 60_000 }).toBe('yes');
  });

  test('gives up a command after two seconds when its server hangs', async () => {
    const connection = await open();
    server?.pause();
    await expect(connection.get('anything')).rejects.toThrow('timed out');
    server?.resume();
  });

  test('is not ready where nobody listens, and says so', async () => {
    await open();
    await server?.stop();
    const nobody = connectRedis(server?.url ?? '', silentLog(), 'prompt');
    await expect(ready(nobody, 300)).rejects.toThrow('Redis does not answer');
    nobody.disconnect();
  });

  test('to a server that may evict keys is refused, and to one that never does is not', async () => {
    const connection = await open();
    await requireFitness(connection, silentLog());
    await connection.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(requireFitness(connection, silentLog())).rejects.toThrow('noeviction');
  });

  test('goes to a master that sentinels have promoted, also once that was started again', async () => {
    const watched = await startWatchedRedis(testRedisProgram(), ['--appendonly', 'yes', '--appendfsync', 'always']);
    const connection = connectRedis(watched.url, silentLog(), 'prompt');
    const works = () => expect.poll(() => connection.set('kept', 'yes').catch(() => undefined), { timeout: 60_000 }).toBe('OK');
    await works();
    await watched.failOver();
    await works();
    const promoted = await watched.current();
    await promoted.kill();
    await promoted.start();
    await works();
    expect(promoted).toBe(watched.replica);
    connection.disconnect();
    await watched.stop();
  });
});
