import { expect, it } from 'vitest';
import { tableLines } from './table.ts';

const COLUMNS = [
  { title: 'id' },
  { title: 'name' },
  { title: 'note', isSpare: true },
  { title: 'usd', align: 'right' },
  { title: 'used' },
] as const;
const ROWS = [
  ['key-0001', 'production of everything', 'a remark that is long', '25', '2026-11-21T08:00:00.000Z'],
  ['key-0002', 'ci', '-', '0.5', '-'],
];
const at = (width?: number) => tableLines({ columns: COLUMNS, rows: ROWS, draw: () => undefined }, width).map(({ text }) => text);

it('is as wide as it needs where there is room', () => {
  expect(at()).toEqual([
    'ID        NAME                      NOTE                   USD  USED',
    'key-0001  production of everything  a remark that is long   25  2026-11-21T08:00:00.000Z',
    'key-0002  ci                        -                      0.5  -',
  ]);
});

it('shortens times, cuts the widest texts, and then leaves out spare columns', () => {
  expect(at(70)[1]).toBe('key-0001  production of eve…  a remark that is…   25  2026-11-21 08:00');
  expect(at(46)[1]).toBe('key-0001  producti…  a remar…   25  2026-11-21');
  expect(at(40)).toEqual([
    'ID        NAME           USD  USED',
    'key-0001  production o…   25  2026-11-21',
    'key-0002  ci             0.5  -',
  ]);
});

it('makes a block of each row where the columns do not fit', () => {
  expect(at(30)).toEqual([
    ...['key-0001', '  name  production of everyth…', '  note  a remark that is long', '  usd   25', '  used  2026-11-21 08:00'],
    ...['key-0002', '  name  ci', '  note  -', '  usd   0.5', '  used  -'],
  ]);
});

it.each([100, 80, 60, 46, 40, 33, 20])('is no wider than a terminal of %i columns, with no moment cut in the middle', (width) => {
  for (const line of at(width)) {
    expect(line.length).toBeLessThanOrEqual(width);
    expect(line).not.toMatch(/\d{4}-\d?\d?-?\d?…|T\d\d:?…/);
  }
});

it('leaves out the last spare column first, and shortens the time that names a row too', () => {
  const columns = [{ title: 'time' }, { title: 'kind', isSpare: true }, { title: 'by' }, { title: 'from', isSpare: true }];
  const rows = [['2026-11-21T08:00:00.000Z', 'created', 'ada@example.com', '127.0.0.1']];
  const lineAt = (width: number) => tableLines({ columns, rows, draw: () => undefined }, width)[1]?.text;
  expect(lineAt(53)).toBe('2026-11-21 08:00  created  ada@example.com  127.0.0.1');
  expect(lineAt(33)).toBe('2026-11-21  created  ada@example…');
  expect(lineAt(25)).toBe('2026-11-21  ada@example.…');
});
