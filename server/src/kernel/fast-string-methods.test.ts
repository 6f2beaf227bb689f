import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { restoreFastStringMethods } from './fast-string-methods.ts';

test('string methods are compiled inline again after a class has extended String', () => {
  setFlagsFromString('--allow-natives-syntax');
  const isFast: () => boolean = runInThisContext('() => %HasFastProperties(String.prototype)');
  expect(isFast()).toBeTypeOf('boolean');
  setFlagsFromString('--no-allow-natives-syntax');
  class Text extends String {}
  expect(new Text('x')).toBeInstanceOf(String);
  expect(isFast()).toBe(false);
  restoreFastStringMethods();
  expect(isFast()).toBe(true);
});
