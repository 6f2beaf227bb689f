import { expect, test } from 'vitest';
import * as z from 'zod';
import { EmailAddress } from './email-address.ts';
import { CreateUserRequest } from './index.ts';

test.each([
  ['Ada@Example.com', 'Ada@Example.com'],
  ['a@bücher.example', 'a@xn--bcher-kva.example'],
  ['a@BU\u0308CHER.EXAMPLE', 'a@xn--bcher-kva.example'],
  ['a@straße.example', 'a@xn--strae-oqa.example'],
  ['a@例え。テスト', 'a@xn--r8jz45g.xn--zckzah'],
  ['a@пример.рф', 'a@xn--e1afmkfd.xn--p1ai'],
])('%s is kept as %s, which DNS and mail servers know', (given, kept) => {
  expect(EmailAddress.parse(given)).toBe(kept);
  expect(EmailAddress.parse(kept)).toBe(kept);
});

test.each([
  'a@bü/cher.example',
  'a@bü..example',
  'a@bü cher.example',
  'a@ü%41.example',
  'a@１２７.0.0.1',
  '@bücher.example',
  'a@ü',
  'a@b',
  `a@${'ü'.repeat(300)}.example`,
])('refuses %s', (given) => {
  expect(EmailAddress.safeParse(given).success).toBe(false);
});

test('names the local part for characters before the @', () => {
  const body = { email: 'jürgen@example.com', password: 'seven grey herons at dawn' };
  expect(CreateUserRequest.safeParse(body).error?.issues).toMatchObject([
    { path: ['email'], message: expect.stringContaining('before the @') },
  ]);
});

test('is described as an e-mail address', () => {
  expect(z.toJSONSchema(EmailAddress, { io: 'input' })).toMatchObject({ type: 'string', format: 'email', maxLength: 254 });
});
