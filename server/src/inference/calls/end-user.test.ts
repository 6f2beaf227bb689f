import { expect, test } from 'vitest';
import { withEndUser } from './end-user.ts';
import { parseInferenceHeaders } from './headers.ts';

const CHAT = '/v1/chat/completions';
const named = (body: unknown, endpoint = CHAT) => withEndUser(parseInferenceHeaders({}), body, endpoint).endUser;

test('an end user is whom the body names, by the newest field first', () => {
  expect(named({ user: 'ada' })).toBe('ada');
  expect(named({ user: 'ada', safety_identifier: 'grace' })).toBe('grace');
  expect(named({ metadata: { user_id: 'ada' } }, '/v1/messages')).toBe('ada');
  expect(named({ metadata: { user_id: 'ada' } })).toBeUndefined();
  for (const body of [{}, { user: '' }, { user: 7 }, null, 'text']) expect(named(body)).toBeUndefined();
});

test('a name that no header could have is counted under its hash', () => {
  const long = 'x'.repeat(129);
  expect(named({ user: long })).toMatch(/^sha256:[0-9a-f]{32}$/);
  expect(named({ user: 'Zoë' })).not.toBe(named({ user: 'Zoé' }));
});
