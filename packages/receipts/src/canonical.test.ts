import { runInNewContext } from 'node:vm';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from './canonical.ts';

describe('RFC 8785', () => {
  test('the example of section 3.2', () => {
    const text = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalJson(JSON.parse(text))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test('members are in the order of UTF-16 code units, in which an emoji comes before U+FB33', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
    const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'];
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));
    expect([...text.matchAll(/"((?:[^"\\]|\\.)*)":0/g)].map(([, name]) => JSON.parse(`"${name}"`))).toEqual(sorted);
  });

  test.each([
    [0, '0'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [Number.MAX_VALUE, '1.7976931348623157e+308'],
    [2 ** 53, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [1e21, '1e+21'],
    [9.999999999999997e22, '9.999999999999997e+22'],
    [0.000001, '0.000001'],
    [333333333.33333325, '333333333.33333325'],
  ])('appendix B: %s is written %s', (number, text) => {
    expect(canonicalJson(number)).toBe(text);
  });
});

test('gives what the package canonicalize gives for any JSON value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
    { numRuns: 500 },
  );
});

test('does not depend on the order of members', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.integer()), (value) => {
      expect(canonicalJson(Object.fromEntries(Object.entries(value).reverse()))).toBe(canonicalJson(value));
    }),
  );
});

class Money {
  readonly amount = 1;
}

const sparse: unknown[] = [];
sparse[1] = 1;

test.each([
  ['NaN', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['undefined', undefined],
  ['an undefined member', { a: undefined }],
  ['a hole in an array', sparse],
  ['a bigint', 1n],
  ['a function', () => 1],
  ['a toJSON method', { toJSON: () => 'something else' }],
  ['a symbol', Symbol('a')],
  ['a date', new Date(0)],
  ['a map', new Map()],
  ['bytes', new Uint8Array(1)],
  ['a class instance', new Money()],
  ['a lone high surrogate', '\ud83d'],
  ['a lone low surrogate', { a: ['x\ude00'] }],
  ['a lone surrogate in a name', { '\ud83d': 1 }],
])('refuses %s', (_, value) => {
  expect(() => canonicalJson(value)).toThrow(TypeError);
});

test('takes objects of another realm and objects without a prototype', () => {
  expect(canonicalJson(runInNewContext('({ b: [1], a: {} })'))).toBe('{"a":{},"b":[1]}');
  expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
});
