import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type RedisProcess, startRedis } from '../../server/src/adapters/redis/redis-process.ts';
import { isRedisMissing, testRedisProgram } from '../../server/src/adapters/redis/test-redis.ts';
import { Gateway } from './gateway.ts';
import { filesWith } from './stored-bytes.ts';

const SECRET = 'the launch codes are 0000';
const model = 'gpt-4o-mini';
let redis: RedisProcess | undefined;
let gateway: Gateway;
let openai: OpenAI;
beforeAll(async () => {
  redis = isRedisMissing() ? undefined : await startRedis(testRedisProgram(), ['--appendonly', 'yes', '--appendfsync', 'always']);
  gateway = await Gateway.start({ database: 'embedded', env: redis ? { REDIS_URL: redis.url } : {} });
  const { base_url: baseURL, test_api_key: apiKey } = gateway.bootstrap;
  openai = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await gateway?.remove();
  await redis?.stop();
});

test('no byte of a prompt is in the data directory, its database and its logs', async () => {
  const messages = [{ role: 'user' as const, content: `Repeat: ${SECRET}` }];
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: { model, messages } };
  const input_file_id = (await openai.files.create({ file: await toFile(Buffer.from(JSON.stringify(line)), 'a.jsonl'), purpose: 'batch' }))
    .id;
  const { id } = await openai.batches.create({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' });
  const item = { type: 'message' as const, role: 'user' as const, content: SECRET };
  await openai.conversations.create({ items: [item] });
  await openai.responses.create({ model, input: SECRET, background: true });
  const kept = await openai.responses.create({ model, input: `Repeat: ${SECRET}` });
  await openai.chat.completions.create({ model, messages, store: true });
  await openai.chat.completions.create({ model, messages }, { headers: { 'idempotency-key': 'once' } });
  const output = await vi.waitFor(
    async () => {
      const { output_file_id } = await openai.batches.retrieve(id);
      if (!output_file_id) throw new Error('The batch runs yet');
      return output_file_id;
    },
    { timeout: 120_000, interval: 100 },
  );
  expect(await (await openai.files.content(output)).text()).toContain(SECRET);
  expect(JSON.stringify(await openai.responses.retrieve(kept.id))).toContain(SECRET);

  await gateway.stop();
  expect(filesWith(gateway.dataDir, kept.id).length).toBeGreaterThan(0);
  expect(filesWith(gateway.dataDir, SECRET)).toEqual([]);
  if (redis) expect(filesWith(redis.folder, SECRET)).toEqual([]);
});
