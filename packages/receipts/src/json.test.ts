import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson } from './json.ts';

const integers = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 5 })
  .map((value) =>
    JSON.parse(JSON.stringify(value), (_, member: unknown) => (typeof member === 'number' ? Math.trunc(member % 1e15) || 0 : member)),
  );

test('reads what JSON.parse reads, whatever the white space', () => {
  fc.assert(
    fc.property(integers, fc.constantFrom(undefined, 1, '\t'), (value: unknown, space) => {
      const text = JSON.stringify(value, null, space);
      expect(readJson(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

test('never reads text that JSON.parse refuses, and never reads it differently', () => {
  const marks = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '"b"',
    '\\',
    '0',
    '1',
    '-',
    '.5',
    'e2',
    'true',
    'null',
    'nul',
    ' ',
    '\n',
    '\u0001',
  );
  fc.assert(
    fc.property(fc.array(marks, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      let value: unknown;
      try {
        value = readJson(text);
      } catch {
        return;
      }
      expect(value).toEqual(JSON.parse(text));
    }),
    { numRuns: 5000 },
  );
});

test.each(['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"b":{"a":1,"c":2,"a":3}}]', '{"__proto__":1,"__proto__":2}'])(
  'refuses the repeated member in %s',
  (text) => {
    expect(() => readJson(text)).toThrow(expect.objectContaining({ code: 'duplicate_member' }));
  },
);

test.each(['1.0', '1e3', '1E3', '0.5', '-0', '9007199254740992', '-9007199254740992', '1e400'])('refuses the number %s', (text) => {
  expect(() => readJson(`[${text}]`)).toThrow(expect.objectContaining({ code: 'bad_number' }));
});

test.each([
  '',
  ' ',
  '01',
  '+1',
  '-',
  '1.',
  '.5',
  'NaN',
  'truex',
  'tru',
  '[1,]',
  '{"a":1,}',
  '{a:1}',
  "'a'",
  '"a',
  '"\\',
  '"\\x"',
  '"\t"',
  '"\\ud83d"',
  '[1]]',
  '/**/1',
  '\ufeff1',
])('refuses %j, which is not JSON', (text) => {
  expect(() => readJson(text)).toThrow(expect.objectContaining({ code: 'malformed_json' }));
});

test('names the line and the column', () => {
  expect(() => readJson('{\n  "a": 1,\n  "a": 2\n}')).toThrow('Line 3, column 3: a second member "a".');
});

test('hostile depth and length neither exhaust the stack nor the time', () => {
  expect(() => readJson('['.repeat(1e6))).toThrow('nested more than 32 deep');
  expect(() => readJson(`"${'\\n'.repeat(1e6)}`)).toThrow('does not end');
  expect(readJson(`"${'\\n'.repeat(1e6)}"`)).toHaveLength(1e6);
});

test('a member named __proto__ is a member like any other', () => {
  const value = readJson('{"__proto__":{"polluted":true}}');
  expect(Object.keys(value ?? {})).toEqual(['__proto__']);
  expect(value).not.toHaveProperty('polluted');
});
