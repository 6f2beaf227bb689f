import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ServerPulse } from './server-pulse.ts';
import { testDatabase } from './test-database.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database?.drop());

test('a server that says nothing is waited for during the start, and ends every connection once requests are served', async () => {
  const pulse = new ServerPulse(database.url);
  const client = new pulse.Client(database.url);
  client.on('error', () => {});
  await client.connect();
  const later = performance.now() + 10_000;
  const now = vi.spyOn(performance, 'now').mockReturnValue(later);
  pulse.silent();
  expect(pulse.isSilent).toBe(false);
  now.mockRestore();
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  pulse.serve();
  vi.spyOn(performance, 'now').mockReturnValue(later + 10_000);
  pulse.silent();
  vi.restoreAllMocks();
  expect(pulse.isSilent).toBe(true);
  await expect(client.query('select 1')).rejects.toThrow();
  pulse.close();
});
