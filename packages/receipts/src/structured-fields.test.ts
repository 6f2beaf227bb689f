import { describe, expect, test } from 'vitest';
import { parseDictionary, parseInnerList, serializeInnerList } from './structured-fields.ts';

describe('an inner list', () => {
  test.each([
    '("@method" "@path");created=1618884473;keyid="test"',
    '()',
    '("a";sf "b";key="x");tag="q\\"\\\\";flag;off=?0;token=a/b*;bytes=:AQID:;negative=-12',
  ])('is written as it was read: %s', (text) => {
    const list = parseInnerList(text);
    expect(list && serializeInnerList(list)).toBe(text);
  });

  test('is written in one spelling, however it was spaced', () => {
    const list = parseInnerList('  (  "a"   "b" );  x=1; y=?1 ');
    expect(list && serializeInnerList(list)).toBe('("a" "b");x=1;y');
  });

  test.each([
    ['', 'nothing'],
    ['"a"', 'an item'],
    ['("a"', 'no end'],
    ['("a""b")', 'no space between items'],
    ['("a") x', 'text behind it'],
    ['("a");x=1;x=2', 'a parameter twice'],
    ['("a");X=1', 'a key in upper case'],
    ['("a");x=1.5', 'a decimal, which nothing here uses'],
    ['("a");x=1234567890123456', 'an integer of sixteen digits'],
    ['("é")', 'a letter outside ASCII'],
    ['("a\\b")', 'an escape that is none'],
    ['("a\tb")', 'a tab in a string'],
    ['("a");x=:AQI:', 'base64 without its padding'],
    ['("a");x=:AQJ=:', 'base64 with bits left over'],
    ['("a");x=:AQ=I:', 'padding inside base64'],
  ])('is refused: %j (%s)', (text) => {
    expect(parseInnerList(text)).toBeUndefined();
  });
});

describe('a dictionary', () => {
  test('holds items, inner lists and bare keys', () => {
    const found = parseDictionary('a=1,\tb=("x");p=2 , c;q, d=:AQ==:');
    expect([...(found?.keys() ?? [])]).toEqual(['a', 'b', 'c', 'd']);
    expect(found?.get('c')).toEqual({
      item: { type: 'boolean', value: true },
      parameters: new Map([['q', { type: 'boolean', value: true }]]),
    });
    expect(found?.get('d')).toEqual({ item: { type: 'bytes', value: Uint8Array.of(1) }, parameters: new Map() });
  });

  test.each(['', 'a=1,', ',a=1', 'a=1 b=2', 'a=', 'a=1,a=2', 'A=1', 'a=1;'])('is refused: %j', (text) => {
    expect(parseDictionary(text)).toBeUndefined();
  });
});
