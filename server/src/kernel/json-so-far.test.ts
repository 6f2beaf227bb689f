import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonSoFar } from './json-so-far.ts';

test.each([
  ['{"a":1,"b":"x"', { a: 1, b: 'x' }],
  ['{"a":1,"b":90', { a: 1 }],
  ['{"a":1,"b"', { a: 1 }],
  ['{"a":1,"b":', { a: 1 }],
  ['{"a":[1,2,{"c":true,"d":nul', { a: [1, 2, { c: true }] }],
  ['{"a":"x\\"}","b":"y\\', { a: 'x"}' }],
  ['{', {}],
  ['{"a":{"b":1}}', { a: { b: 1 } }],
  ['', undefined],
  ['12', undefined],
  ['no JSON, at all', undefined],
])('%s says %j', (text, said) => {
  expect(jsonSoFar(text)).toEqual(said);
});

test('nothing is read from the beginning of a document that is not in the whole', () => {
  const isPart = (part: unknown, whole: unknown): boolean =>
    typeof part !== 'object' || part === null
      ? part === whole
      : typeof whole === 'object' &&
        whole !== null &&
        Object.entries(part).every(([name, value]) => isPart(value, Reflect.get(whole, name)));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.double({ min: 0, max: 1, noNaN: true }), (whole, share) => {
      const text = JSON.stringify(whole);
      const written: unknown = JSON.parse(text);
      const cut = text.slice(0, Math.floor(text.length * share));
      expect(cut === '' || isPart(jsonSoFar(cut), written)).toBe(true);
      expect(jsonSoFar(text)).toEqual(written);
    }),
  );
});

test('a document that only opens brackets is read once', () => {
  expect(Array.isArray(jsonSoFar('['.repeat(100_000)))).toBe(true);
});
