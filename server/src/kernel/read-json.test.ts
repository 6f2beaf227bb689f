import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { jsonFaultPosition } from './json-fault.ts';
import { JsonFault, readJson } from './read-json.ts';

const PIECE = 65_536;
const name = fc.oneof(fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom('__proto__', '1', 'a'));
/** Texts around the length of a piece, of one to four bytes a character, and of escapes. */
const longText = fc
  .tuple(name, fc.constantFrom('a', 'я', '\u{1F600}', '\\', '"', '\n', '\ud800', '\u0001'), fc.integer({ min: PIECE >> 3, max: PIECE + 3 }))
  .map(([before, unit, count]) => before + unit.repeat(count));
const leaf = fc.oneof(
  { weight: 9, arbitrary: name },
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(null, true, []),
  longText,
);
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5 }),
    fc
      .tuple(tie('value'), fc.integer({ min: 1, max: 40_000 }))
      .map(([one, count]) => Array.from({ length: isSmall(one) ? count : 2 }, () => one)),
  ),
})).value;
const isSmall = (one: unknown): boolean => typeof one !== 'object' && String(one).length < 20;

/** The same outcome as of `JSON.parse`; of what is refused the place of the fault is right, give or take three pieces. */
async function expectLikeJsonParse(text: string): Promise<void> {
  let expected: unknown;
  try {
    expected = JSON.parse(text);
  } catch {
    const fault = await Promise.resolve()
      .then(() => readJson(Buffer.from(text)))
      .catch((error: unknown) => error);
    if (!(fault instanceof JsonFault)) throw new Error('It was not refused as large JSON is', { cause: fault });
    expect(Math.abs(fault.byte - jsonFaultPosition(text))).toBeLessThanOrEqual(3 * PIECE);
    return;
  }
  expect(await readJson(Buffer.from(text))).toEqual(expected);
}

test('reads what JSON.parse reads, of every size', async () => {
  await fc.assert(
    fc.asyncProperty(value, fc.integer({ min: 0, max: 2 }), async (one, indent) => {
      const text = JSON.stringify({ one, many: [one, 'x', one] }, null, indent);
      expect(await readJson(Buffer.from(text))).toEqual(JSON.parse(text));
    }),
    { numRuns: 40 },
  );
});

test('refuses what JSON.parse refuses, says where, and takes what it takes', async () => {
  const long = (count: number) => `"${'a'.repeat(count)}"`;
  const bodies = [
    `[${long(PIECE)},${'1,'.repeat(PIECE)}{"a":${long(PIECE * 2)},"b":[${'2,'.repeat(PIECE)}3]}, ${long(PIECE)}]`,
    `{"a":${long(PIECE * 2)},${Array.from({ length: 20_000 }, (_, at) => `"k${at}":${at}`).join()},"z":{"y":${long(PIECE * 2)}}}`,
  ];
  const change = fc.tuple(
    fc.constantFrom(...bodies),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom(0, 1),
    fc.constantFrom('', ',', ']', '}', '[', '{', ':', '"', '\\', ' ', '1', '\u0001'),
  );
  await fc.assert(
    fc.asyncProperty(change, fc.integer({ min: 0, max: 12 }), async ([body, where, taken, given], nearSeam) => {
      // Faults at commas, colons and brackets are the ones that a reader in pieces might miss.
      const seams = [...body.matchAll(/[,:[\]{}]/g)].filter(({ index }) => /"/.test(body.slice(index - 1, index + 2)));
      const at =
        nearSeam < 10 ? (seams[Math.floor(where * (seams.length - 1))]?.index ?? 0) + (nearSeam % 2) : Math.floor(where * body.length);
      const text = body.slice(0, at) + given + body.slice(at + taken);
      await expectLikeJsonParse(text);
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['trailing comma behind a large element', `["${'a'.repeat(PIECE * 2)}",]`],
  ['two large values without a comma', `["${'a'.repeat(PIECE * 2)}" "${'a'.repeat(PIECE * 2)}"]`],
  ['something behind the end', `["${'a'.repeat(PIECE * 2)}"]]`],
  ['a second value', `["${'a'.repeat(PIECE * 2)}"][]`],
  ['a word before a large element', `[1 "${'a'.repeat(PIECE * 2)}"]`],
  ['a control character in a long text', `["${'a'.repeat(PIECE * 2)}\u0001"]`],
  ['an escape that is none at the end of a piece', `["${'a'.repeat(PIECE - 1)}\\x${'a'.repeat(PIECE)}"]`],
  ['a bracket of another kind', `[[${'1,'.repeat(PIECE)}1},"b"]`],
  ['no end', `[[${'1,'.repeat(PIECE)}1]`],
  ['no name', `{"a":1,${'"b":2,'.repeat(PIECE)}"${'a'.repeat(PIECE * 2)}"}`],
  ['a quote that is missing in front of many members', `{"k1:0,${Array.from({ length: PIECE }, (_, at) => `"k${at}":${at}`).join()}}`],
  ['a word', 'a'.repeat(PIECE * 2)],
  ['a text without an end', `"${'a'.repeat(PIECE * 2)}`],
])('refuses %s', async (_what, text) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  await expectLikeJsonParse(text);
});

test.each([
  ['blanks', `[${' '.repeat(PIECE * 2)}]`, []],
  ['blanks around', `${' '.repeat(PIECE * 2)}{"a":1}\n`, { a: 1 }],
  ['one large number of small members', `{${'"b":2,'.repeat(PIECE)}"a":3}`, { b: 2, a: 3 }],
  ['a nest', `${'['.repeat(PIECE / 16)}"${'a'.repeat(PIECE * 2)}"${']'.repeat(PIECE / 16)}`, undefined],
])('reads %s', async (_what, text, expected) => {
  expect(JSON.stringify(await readJson(Buffer.from(text)))).toBe(JSON.stringify(expected ?? JSON.parse(text)));
});

test.each([20, 97, 300, 5_000])('parses texts of %i characters in pieces of any division', async (length) => {
  const rows = Array.from({ length: Math.ceil(1_000_000 / length) }, (_, at) => ({ at, text: 'a'.repeat(length) }));
  const bytes = Buffer.from(JSON.stringify(rows));
  const parse = vi.spyOn(JSON, 'parse');
  try {
    expect(await readJson(bytes)).toEqual(rows);
    expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(4 * PIECE);
  } finally {
    parse.mockRestore();
  }
});
