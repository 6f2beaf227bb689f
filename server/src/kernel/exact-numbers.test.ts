import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasExactNumbers } from './exact-numbers.ts';

const isExact = (text: string) => hasExactNumbers(Buffer.from(text));

test.each(['9007199254740993', '[1,18446744073709551615]', '{"a":-9007199254740993}', '0.1000000000000000001', '1e400', '1e-400'])(
  '%s is another number once it is read',
  (text) => expect(isExact(text)).toBe(false),
);

test.each(['9007199254740992', '1e21', '1.50E+3', '0.1', '-0.0', '100000000000000000000000', '1.7976931348623157e308'])(
  '%s is read as it is written',
  (text) => expect(isExact(text)).toBe(true),
);

test('digits within texts are no numbers', () => {
  expect(isExact('{"9007199254740993":"9007199254740993 \\" 9007199254740993"}')).toBe(true);
  expect(isExact('{"a":"\\\\","b":9007199254740993}')).toBe(false);
});

test('whatever JSON.stringify writes has exact numbers', () => {
  fc.assert(fc.property(fc.json(), (text) => isExact(text)));
});
