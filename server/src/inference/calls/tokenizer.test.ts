import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTokenizer } from './tokenizer.ts';

let tokenizer = createTokenizer();
afterEach(async () => {
  await tokenizer.close();
  tokenizer = createTokenizer();
});

test('counts in its own thread, any number at a time, each answer to its question', async () => {
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

describe('on a busy machine', () => {
  let started = 0;
  /** Takes 700 ms to load, and counts the text `hostile` for ever, every other text as seven tokens. */
  const slow = () => {
    started += 1;
    return new Worker(
      `const { parentPort } = require('node:worker_threads');
       const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
       sleep(700);
       parentPort.on('message', ({ id, text }) => {
         parentPort.postMessage({ id });
         if (text === 'hostile') sleep(60_000);
         parentPort.postMessage({ id, tokens: 7 });
       });`,
      { eval: true },
    );
  };
  beforeEach(async () => {
    await tokenizer.close();
    started = 0;
    tokenizer = createTokenizer({ limitMs: 500, startWorker: slow });
  });

  test('callers do without a count while the vocabulary is loaded, and it is loaded once', async () => {
    expect(await tokenizer.count('o200k_base', 'hello')).toBeUndefined();
    await expect.poll(() => tokenizer.count('o200k_base', 'hello')).toBe(7);
    expect(started).toBe(1);
  });

  test('a text that is counted for too long is given up, and those behind it are counted', async () => {
    await expect.poll(() => tokenizer.count('o200k_base', 'hello')).toBe(7);
    expect(await tokenizer.count('o200k_base', 'hostile')).toBeUndefined();
    await expect.poll(() => tokenizer.count('o200k_base', 'hello')).toBe(7);
    expect(started).toBe(2);
  });
});
