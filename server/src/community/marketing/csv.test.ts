import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvRow, withoutGuard } from '../../kernel/csv-row.ts';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { type CsvRow, readCsv } from './csv.ts';

async function* inPieces(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}
const rowsOf = async (text: string, size = 7) => {
  const rows: CsvRow[] = [];
  for await (const row of readCsv(inPieces(text, size))) rows.push(row);
  return rows;
};

describe('reading', () => {
  test('what was written comes back, however it is cut into pieces', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\r', '\n', '=', "'", '-', ' ') });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1 }), fc.integer({ min: 1, max: 9 }), async (rows, size) => {
        // An apostrophe before a formula is the writer's own mark.
        const own = rows.map((row) => row.map((text) => text.replace(/^'+/, '')));
        const read = await rowsOf(own.map(csvRow).join(''), size);
        expect(read.map(({ cells }) => cells.map(withoutGuard))).toEqual(own);
      }),
    );
  });

  test('rows say on which line they begin, also after cells of several lines and empty lines', async () => {
    expect((await rowsOf('\uFEFFa,b\r\n"1\r\n2",x\r\n\r\nlast,y')).map(({ line, cells }) => [line, cells[0]])).toEqual([
      [1, 'a'],
      [2, '1\r\n2'],
      [5, 'last'],
    ]);
  });

  test.each([
    ['a"b,c', 'a quote inside a cell that does not begin with one'],
    ['"a"b,c', 'text after a closing quote'],
    ['x,"never closed', 'a quoted cell is not closed'],
    [`"${'x'.repeat(70_000)}`, 'the row is longer than 64 KiB: is a quote not closed?'],
    [','.repeat(70_000), 'the row is longer than 64 KiB: is a quote not closed?'],
  ])('a malformed row is given with its fault', async (text, fault) => {
    expect((await rowsOf(text)).map((row) => row.fault)).toEqual([fault]);
  });

  test.each([
    ['separators', ','],
    ['cells behind a good beginning', 'email,a,'],
    ['line ends', '\r'],
    ['quotes', '"'],
    ['a cell', 'x'],
  ])('a text of nothing but %s holds the event loop for 50 ms and takes 8 times its size at most', async (what, unit) => {
    const text = unit.repeat((4 * 1024 * 1024) / unit.length);
    await expectTurns(what, text.length, () => rowsOf(text, 65_536));
  });

  test('cells are parted by what parts those of the header, commas or semicolons', async () => {
    const cellsOf = async (text: string) => (await rowsOf(text)).map(({ cells }) => cells);
    expect(await cellsOf('email;name\na@example.com;"Doe; Jane, Dr."\n')).toEqual([
      ['email', 'name'],
      ['a@example.com', 'Doe; Jane, Dr.'],
    ]);
    expect(await cellsOf('email,tags\na@example.com,x;y\n')).toEqual([
      ['email', 'tags'],
      ['a@example.com', 'x;y'],
    ]);
    expect(await cellsOf('email\na;b\n')).toEqual([['email'], ['a;b']]);
  });

  test('after a malformed row it continues with the next line', async () => {
    expect((await rowsOf('a"b\ngood,row\n')).map(({ line, fault }) => [line, fault !== undefined])).toEqual([
      [1, true],
      [2, false],
    ]);
  });
});
