import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { LiveCatalog, writeFound } from '../money/catalog/index.ts';
import { catalogCommandOf, WrongLine } from './catalog-commands.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 2 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

test.each([
  [['model', 'own', '--provider', 'lab', '--from', '2027-01-01'], '--from is of a price, and there is none'],
  [['model', 'own', '--batch-factor', '0.5'], '--batch-factor is of a price, and there is none'],
  [['model', 'own', '--source', 'an offer'], '--source is of a price, and there is none'],
  [['price', 'own', '--from', '2027-01-01'], '--from is of a price, and there is none'],
  [['price', 'own'], 'There is no price'],
  [['price', 'own', '--input', '1000000', '--output', '0'], 'below 1000000'],
])('%j is refused before anything is written: %s', (line, told) => {
  expect(() => catalogCommandOf(line)).toThrow(WrongLine);
  expect(() => catalogCommandOf(line)).toThrow(told);
});

test.each([
  ['--context', '1e300', '--context: must be at most 100000000 tokens'],
  ['--context', '-1', '--context: must be more than 0'],
])('a length of %s %s has one fault', (option, length, fault) => {
  expect(() => catalogCommandOf(['model', 'own', `${option}=${length}`])).toThrow(new WrongLine(fault));
});

test('a price without a required unit is refused with the name of the missing option', async () => {
  await catalogCommandOf(['model', 'lab/priced', '--provider', 'lab'])?.(pool, silentLog());
  const half = catalogCommandOf(['price', 'lab/priced', '--input', '1'])?.(pool, silentLog());
  await expect(half).rejects.toThrow(/--output/);
  await expect(half).rejects.not.toThrow(/output_tokens/);
});

test('a discovered model whose id means another provider’s by now is marked in the list', async () => {
  const found = async (provider: string, ...names: string[]) => {
    const catalog = await LiveCatalog.open({ pool, log: silentLog(), providers: new Set() });
    const models = names.map((name) => ({ name, contextWindow: null, maxOutputTokens: null }));
    await writeFound(pool, catalog, { provider, baseUrl: `http://${provider}.example/v1`, models });
    catalog.close();
  };
  const listed = async () => (await catalogCommandOf(['models', 'llama'])?.(pool, silentLog()))?.split('\n');
  await found('lab', 'ollama/llama-own', 'lab/llama-own');
  expect(await listed()).toEqual(['lab/llama-own\tdiscovery\tno price', 'ollama/llama-own\tdiscovery\tno price']);
  await found('ollama', 'qwen-own');
  expect(await listed()).toEqual([
    'lab/llama-own\tdiscovery\tno price',
    'ollama/llama-own\tdiscovery; hidden while the gateway has the provider ollama\tno price',
  ]);
});
