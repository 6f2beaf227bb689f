import { afterEach, expect, test } from 'vitest';
import { createTokenizer } from './tokenizer.ts';

let tokenizer = createTokenizer();
afterEach(async () => {
  await tokenizer.close();
  tokenizer = createTokenizer();
});

test('counts in its own thread, any number at a time, each answer to its question', async () => {
  await tokenizer.close();
  tokenizer = createTokenizer({ limitMs: 120_000 });
  const counts = Array.from({ length: 20 }, (_, times) => tokenizer.count('o200k_base', 'hello '.repeat(times)));
  const tokens = await Promise.all(counts);
  expect(tokens[0]).toBe(0);
  for (const [times, count] of tokens.entries()) if (times > 0) expect(count).toBe(times + 1);
  expect(await tokenizer.count('cl100k_base', 'hello')).toBe(1);
});

test('does not begin with a text that is too long to finish', async () => {
  expect(await tokenizer.count('o200k_base', 'x'.repeat(4_000_001))).toBeUndefined();
});

test('answers what is still open when it closes, rather than let it wait for ever', async () => {
  const open = tokenizer.count('o200k_base', 'hello');
  await tokenizer.close();
  expect(await open).toBeUndefined();
});
