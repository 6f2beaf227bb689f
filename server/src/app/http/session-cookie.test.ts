import { expect, test } from 'vitest';
import { cookieOfSession, noCookie, sessionOfCookie } from './session-cookie.ts';

const GUARD = { 'x-csrf-protection': '1' };

test.each([
  ['of a page of this origin', { cookie: 'a=b; tallygate_session=tgs_1', ...GUARD, 'sec-fetch-site': 'same-origin' }, 'tgs_1'],
  ['of a client that names no site', { cookie: 'tallygate_session=tgs_1', ...GUARD }, 'tgs_1'],
  ['over TLS before one over plain HTTP', { cookie: 'tallygate_session=tgs_2; __Host-tallygate_session=tgs_1', ...GUARD }, 'tgs_1'],
  ['without the guard', { cookie: 'tallygate_session=tgs_1' }, undefined],
  ['of another port of this host', { cookie: 'tallygate_session=tgs_1', ...GUARD, 'sec-fetch-site': 'same-site' }, undefined],
  ['of another site', { cookie: 'tallygate_session=tgs_1', ...GUARD, 'sec-fetch-site': 'cross-site' }, undefined],
  ['of a link that was typed', { cookie: 'tallygate_session=tgs_1', ...GUARD, 'sec-fetch-site': 'none' }, undefined],
  ['of another name', { cookie: 'x_tallygate_session=tgs_1; session=tgs_1', ...GUARD }, undefined],
])('a cookie counts only beside its guard, from this very origin: %s', (_, headers, token) => {
  expect(sessionOfCookie(headers)).toBe(token);
});

test('a cookie is out of the reach of scripts and of other sites, and over TLS of other hosts', () => {
  expect(cookieOfSession('tgs_1', false)).toBe('tallygate_session=tgs_1; Path=/; HttpOnly; SameSite=Strict; Max-Age=7776000');
  expect(cookieOfSession('tgs_1', true)).toBe('__Host-tallygate_session=tgs_1; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=7776000');
  expect(noCookie(true)).toBe('__Host-tallygate_session=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0');
});
