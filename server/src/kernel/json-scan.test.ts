import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonBounds, JsonScan } from './json-scan.ts';
import { Problem } from './problem.ts';

const NO_BOUNDS: JsonBounds = { levels: 1_000, values: 1e9, members: 1e9 };

function scanned(text: string, bounds: JsonBounds = NO_BOUNDS, chunkBytes = Number.POSITIVE_INFINITY): number {
  const bytes = Buffer.from(text);
  const scan = new JsonScan(bounds);
  for (let at = 0; at < bytes.length; at += chunkBytes) scan.take(bytes.subarray(at, at + chunkBytes));
  return scan.values;
}

/** Every element, member, array and object. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 1);
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, member) => sum + membersIn(member), own);
}

function levelsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levelsIn));
}

const refusal = (text: string, bounds?: JsonBounds, chunkBytes?: number): string | undefined => {
  try {
    scanned(text, bounds, chunkBytes);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof Problem) || thrown.code !== 'body_too_complex') throw thrown;
    return thrown.message;
  }
};

// Strings long enough to be searched rather than read, with escapes and quotes of all kinds.
const anyJson = fc
  .jsonValue({ maxDepth: 6 })
  .chain((value) => fc.string({ maxLength: 300, unit: 'binary' }).map((text) => [value, text, { [text]: text }]));
const spacing = fc.constantFrom(undefined, '  ', '\t');

describe('what a JSON text consists of', () => {
  test('is never counted lower than it is, however the text is written and cut', () => {
    fc.assert(
      fc.property(anyJson, spacing, fc.integer({ min: 1, max: 200 }), (value, space, chunkBytes) => {
        const text = JSON.stringify(value, null, space);
        const counted = scanned(text);
        expect(counted).toBeGreaterThanOrEqual(valuesIn(value));
        expect(scanned(text, NO_BOUNDS, chunkBytes)).toBe(counted);
      }),
    );
  });

  test('is refused exactly where it exceeds the bounds of levels and members', () => {
    fc.assert(
      fc.property(anyJson, spacing, fc.integer({ min: 1, max: 200 }), (value, space, chunkBytes) => {
        const text = JSON.stringify(value, null, space);
        const [levels, members] = [levelsIn(value), membersIn(value)];
        expect(refusal(text, { ...NO_BOUNDS, levels, members }, chunkBytes)).toBeUndefined();
        expect(refusal(text, { ...NO_BOUNDS, levels: levels - 1 }, chunkBytes)).toMatch(/nested deeper/);
        expect(refusal(text, { ...NO_BOUNDS, members: members - 1 }, chunkBytes)).toMatch(/fields/);
      }),
    );
  });

  test('is counted at twice its number of values at most', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(scanned(JSON.stringify(value))).toBeLessThanOrEqual(2 * valuesIn(value));
      }),
    );
  });
});

describe('a body', () => {
  test.each([
    ['zeros', `[${'0,'.repeat(1_000)}0]`, /more than 1000 values/],
    ['empty objects', `[${'{},'.repeat(1_000)}0]`, /more than 1000 values/],
    ['opening brackets that never close', '['.repeat(300), /nested deeper than 256 levels/],
    [
      'one object of too many fields',
      `{${Array.from({ length: 5_001 }, (_, at) => `"k${at}":0`).join()}}`,
      /an object with more than 5000 fields/,
    ],
    ['many objects of too many fields', `[${'{"a":0,"b":0},'.repeat(60)}0]`, /more than 100 fields/],
    ['a number without end', `[${'1'.repeat(1_001)}]`, /more than 1000 digits/],
    ['a field name without end', `{"${'k'.repeat(4_097)}":0}`, /a field name longer than 4096 bytes/],
  ])('of %s is refused', (_, text, words) => {
    const bounds = { levels: 256, values: text.startsWith('{') ? 1e6 : 1_000, members: text.startsWith('[{"') ? 100 : 1e6 };
    expect(refusal(text, bounds, 37)).toMatch(words);
  });

  test('of one long string is not taken for what it quotes', () => {
    const text = JSON.stringify({ text: '"[{,:'.repeat(100_000) });
    expect(refusal(text, { levels: 1, values: 10, members: 1 }, 1_000)).toBeUndefined();
  });
});
