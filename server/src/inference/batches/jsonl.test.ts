import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesOf } from './jsonl.ts';

async function linesIn(chunks: readonly Uint8Array[], mostBytes = 100) {
  async function* content() {
    yield* chunks;
  }
  const lines: [number, string | null][] = [];
  for await (const { number, bytes: line } of linesOf(content(), mostBytes)) lines.push([number, line?.toString('utf8') ?? null]);
  return lines;
}
const bytes = (text: string) => new TextEncoder().encode(text);

test('finds every line, wherever its bytes are cut', async () => {
  const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }).filter((text) => text.trim() !== '' && !text.includes('\n'));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.integer({ min: 1, max: 7 }), async (lines, size) => {
      const whole = bytes(lines.map((text) => `x${text}\n`).join(''));
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) => whole.subarray(at * size, (at + 1) * size));
      expect(await linesIn(chunks, 1_000)).toEqual(lines.map((text, index) => [index + 1, `x${text}`]));
    }),
  );
});

test('leaves blank lines out, counts them, and needs no newline at the end', async () => {
  expect(await linesIn([bytes('a\n\n \r\nb\r\nc')])).toEqual([
    [1, 'a'],
    [4, 'b\r'],
    [5, 'c'],
  ]);
});

test('takes the mark that some editors begin a file with', async () => {
  expect(await linesIn([bytes('\ufeff{}\n')])).toEqual([[1, '{}']]);
});

test('gives no text of what is too long or is no UTF-8, and goes on with the next line', async () => {
  expect(await linesIn([bytes('12345\n'), Uint8Array.of(0xff, 0x0a), bytes('ok\n')], 4)).toEqual([
    [1, null],
    [2, null],
    [3, 'ok'],
  ]);
});

test('lets other work have its turn in a file of nothing but blank lines, and counts them', async () => {
  let turns = 0;
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const blank = 5_000_000;
  expect(await linesIn([Buffer.concat([Buffer.alloc(blank, '\n'), bytes('{}')])])).toEqual([[blank + 1, '{}']]);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(2);
});
