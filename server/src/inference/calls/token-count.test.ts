import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, expect, test } from 'vitest';
import { countTokensGuarded } from './token-count.ts';

beforeAll(() => countTokensGuarded('o200k_base', 'load the vocabulary'));

test.each([
  ['letters', 'a'.repeat(200_000)],
  ['spaces', ' '.repeat(200_000)],
  ['line ends with spaces before them', ' \n'.repeat(100_000)],
  ['line ends with spaces behind them', '\n '.repeat(100_000)],
  ['line ends with unbreakable spaces', '\u00a0\n'.repeat(100_000)],
  ['pairs of surrogates', '😀'.repeat(100_000)],
  ['combining marks', 'a\u0301'.repeat(100_000)],
])('two hundred thousand %s are counted in under a second', async (_, text) => {
  const before = process.threadCpuUsage();
  expect(await countTokensGuarded('o200k_base', text)).toBeGreaterThan(0);
  expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(1_000);
});

test('control tokens spelled in a prompt are text', async () => {
  expect(await countTokensGuarded('o200k_base', '<|endoftext|>')).toBeGreaterThan(1);
  expect(await countTokensGuarded('cl100k_base', '<|im_start|>system')).toBeGreaterThan(2);
});

test('text without giant runs counts as the tokenizer counts it, one with them not less', async () => {
  const run = fc
    .tuple(fc.constantFrom('ab', '漢', '. ', '\r\n', '😀'), fc.integer({ min: 1, max: 700 }))
    .map(([unit, times]) => unit.repeat(times));
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), run, async (text, long) => {
      expect(await countTokensGuarded('o200k_base', text)).toBe(countTokens(text, { disallowedSpecial: new Set() }));
      const whole = countTokens(text + long, { disallowedSpecial: new Set() });
      expect(await countTokensGuarded('o200k_base', text + long)).toBeGreaterThanOrEqual(whole - 1);
    }),
    { numRuns: 12 },
  );
});
