import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eachJsonPiece, jsonLength, writtenJson } from './written-json.ts';

const PIECE = 65_536;
const text = fc.string({ unit: 'binary', maxLength: 20 });
/** Texts around the length of a piece, of one, two and four bytes a character. */
const longText = fc
  .tuple(text, fc.constantFrom('a', 'я', '\u{1F600}', '\n', '\ud800'), fc.integer({ min: PIECE / 2 - 3, max: PIECE + 3 }))
  .map(([before, unit, count]) => before + unit.repeat(count));
const leaf = fc.oneof(
  { weight: 9, arbitrary: text },
  fc.double(),
  fc.integer(),
  fc.constantFrom(null, undefined, true, new Date(0)),
  longText,
);
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(text, tie('value'), { maxKeys: 5 }),
  ),
})).value;

test('writes what JSON.stringify writes, of every size', async () => {
  await fc.assert(
    fc.asyncProperty(value, fc.integer({ min: 0, max: 3 }), async (one, copies) => {
      const whole = [one, ...Array.from({ length: copies }, () => ({ one, undefined }))];
      expect((await writtenJson(whole)).equals(Buffer.from(JSON.stringify(whole)))).toBe(true);
      expect(await jsonLength(whole)).toBe(Buffer.byteLength(JSON.stringify(whole)));
    }),
    { numRuns: 25 },
  );
});

test.each([
  ['numbers', Array.from({ length: 100_000 }, (_, at) => at)],
  ['small members', Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`name ${at}`, at % 2 ? at : undefined]))],
  ['a long name', { ['n'.repeat(PIECE + 1)]: 1, __proto__: null }],
  ['long texts among small ones', ['a', 'я'.repeat(PIECE + 1), 'b', 'c', 'я'.repeat(PIECE + 1)]],
])('writes %s as JSON.stringify does', async (_what, one) => {
  expect((await writtenJson(one)).toString()).toBe(JSON.stringify(one));
});

test('writes a small value at once', () => {
  expect(writtenJson({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })).toBeInstanceOf(Buffer);
});

test('no piece of a large value is much longer than a piece, and none ends inside of a character', async () => {
  const pieces: string[] = [];
  await eachJsonPiece(['a', '\u{1F600}'.repeat(PIECE * 4), Array.from({ length: 50_000 }, () => ({ a: '\u{1F600}' }))], (piece) =>
    pieces.push(piece),
  );
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(3 * PIECE);
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
});
