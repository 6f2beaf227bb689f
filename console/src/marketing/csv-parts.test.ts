import { expect, test } from 'vitest';
import { type CsvPart, csvParts, textOf } from './csv-parts.ts';

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function partsOf(text: string, atLeast: number, pieceLength = text.length): Promise<CsvPart[]> {
  async function* pieces() {
    for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength);
  }
  return all(csvParts(pieces(), atLeast));
}

const HEADER = 'email,name\r\n';
const ROWS = [
  'ada@example.com,"Ada,\r\n""Countess"" of Lovelace"\r\n',
  'grace@example.com,Grace\r\n',
  'joan@example.com,5" disk\r\n',
  'mary@example.com,Mary',
];

test.each([1, 2, 7, 1_000])('a file in pieces of %i characters is cut between rows only', async (pieceLength) => {
  const parts = await partsOf(HEADER + ROWS.join(''), 1, pieceLength);
  expect(parts.map(({ csv }) => csv)).toEqual(ROWS.map((row) => HEADER + row));
});

test('a line of a part is named by its place in the file', async () => {
  const parts = await partsOf(HEADER + ROWS.join(''), 1);
  expect(parts.map(({ lineInFile }) => lineInFile(2))).toEqual([2, 4, 5, 6]);
});

test('every part has as many characters as asked for, but the last', async () => {
  const [first, second, ...more] = await partsOf(HEADER + ROWS.join(''), 60);
  expect([first?.rows, second?.rows, more.length]).toEqual([2, 2, 0]);
});

test('a quote that is never closed does not swallow the rest of a large file', async () => {
  const rest = `${'x@example.com,X\n'.repeat(10_000)}`;
  const parts = await partsOf(`email,name\nada@example.com,"Ada\n${rest}`, 1_000);
  expect(parts.length).toBeGreaterThan(50);
});

test('a file without rows is one part, so that the service says what is missing', async () => {
  expect((await partsOf('', 10)).map(({ csv }) => csv)).toEqual(['']);
  expect((await partsOf('email', 10)).map(({ csv }) => csv)).toEqual(['email']);
});

test('bytes that are not UTF-8 are refused instead of replaced', async () => {
  await expect(all(textOf(new Blob([Uint8Array.of(0x4a, 0xf6, 0x72, 0x67)])))).rejects.toThrow(TypeError);
});
