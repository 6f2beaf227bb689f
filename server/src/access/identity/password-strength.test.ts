import { expect, test } from 'vitest';
import { createPasswordStrength } from './password-strength.ts';

const strength = createPasswordStrength();
const ADA = ['ada.lovelace@example.com', 'Ada Lovelace', null];
const refusalOf = (password: string): Promise<string | undefined> =>
  strength.require(password, ADA, 'new_password').then(
    () => undefined,
    ({ extras }) => `${extras.errors[0].loc.join('.')} ${extras.errors[0].type}: ${extras.errors[0].msg}`,
  );

test.each([
  ['password1234', 'known'],
  ['Password123!', 'known'],
  ['p@ssw0rd2026', 'known'],
  ['1234567890', 'known'],
  ['qwertyuiop', 'known'],
  ['iloveyou12', 'known'],
  ['trustno1trustno1', 'easy to guess'],
  ['aaaaaaaaaaaaaaaa', 'easy to guess'],
  ['Summer2026!', 'easy to guess'],
  ['Summer2026Summer', 'easy to guess'],
  ['Password2026!', 'known'],
  ['2026Winter!Winter2026', 'easy to guess'],
  ['correct horse battery staple', 'known'],
  ['Correct-Horse-Battery-Staple-1', 'known'],
  ['ada.lovelace@example.com', 'your name'],
  ['AdaLovelace1', 'your name'],
  ['tallygate1', 'your name'],
])('the password %s is refused: it is %s', async (password, words) => {
  const refusal = await refusalOf(password);
  expect(refusal).toMatch(/^body\.new_password weak_password: is /);
  expect(refusal).toContain(words);
});

test('a password made of the host name of the gateway is refused, and taken elsewhere', async () => {
  const elsewhere = createPasswordStrength({ hostName: () => 'ai.zebulon-quixby.example' });
  const refused = { extras: { errors: [expect.objectContaining({ msg: expect.stringContaining('the name of the service') })] } };
  await expect(elsewhere.require('Zebulon.Quixby.1', ADA, 'new_password')).rejects.toMatchObject(refused);
  expect(await refusalOf('Zebulon.Quixby.1')).toBeUndefined();
});

test('256 characters that are all substitutions are judged within the time limit', async () => {
  for (const password of ['4@8({[</369&#!1/|0$5+7%2'.repeat(11), 'p4$$w0rd'.repeat(32), 'ｐ'.repeat(256), '\u{1d4d0}'.repeat(128)])
    expect((await refusalOf(password)) ?? 'taken').toMatch(/^(taken|body\.new_password weak_password)/);
});
