import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFaultPosition } from './json-fault.ts';

test.each([
  ['{"a":}', 5],
  ['{"a":1,}', 7],
  ['{"a" 1}', 5],
  ['[1,]', 3],
  ['[1 2]', 3],
  ['nul', 0],
  ['01', 1],
  ['{}{}', 2],
  ["{'a':1}", 1],
  ['"a\n"', 2],
  ['"\\x"', 1],
  ['{"a":[1}', 7],
  [']', 0],
])('%s stops being JSON at %i', (text, position) => expect(jsonFaultPosition(text)).toBe(position));

test.each(['', '{', '[1,', '"abc', '{"a":'])('%j ends too early', (text) => expect(jsonFaultPosition(text)).toBe(text.length));

test('finds no fault before the end of any JSON', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(jsonFaultPosition(text)).toBe(text.length);
    }),
  );
});

test('reports no fault before the place where valid JSON was spoilt', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom('}', ']', ',', ':', '"', '\u0001', 'x'), (json, place, inserted) => {
      const at = place % (json.length + 1);
      const text = json.slice(0, at) + inserted + json.slice(at);
      if (!isJson(text)) expect(jsonFaultPosition(text)).toBeGreaterThanOrEqual(Math.min(at, text.length) - LONGEST_WORD);
    }),
  );
});

test('a megabyte of brackets or of escapes is no trouble', () => {
  expect(jsonFaultPosition('['.repeat(1_000_000))).toBe(1_000_000);
  expect(jsonFaultPosition(`"${'\\"'.repeat(500_000)}`)).toBe(1_000_001);
});

/** A fault inside a word, a number or an escape is reported where that token starts. */
const LONGEST_WORD = 30;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
