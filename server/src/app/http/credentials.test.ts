import { expect, test } from 'vitest';
import { createAuthenticator } from './credentials.ts';

/** Whatever is asked of it fails the test. */
const unasked = <T extends object>(): T =>
  new Proxy({} as T, {
    get: (_, name) => () => {
      throw new Error(`${String(name)} was asked`);
    },
  });

const authenticator = createAuthenticator({
  clientSecrets: { authenticate: () => Promise.reject(new Error('This test has none')) },
  ...{ keys: unasked(), managementKeys: unasked(), sessions: unasked(), storing: unasked() },
  ...{ peerAddress: () => '127.0.0.1', internalSecret: 'internal', isStoreSilent: () => true },
});
const authenticate = (authorization: string) => () =>
  authenticator.authenticate({ headers: { authorization }, rawHeaders: ['Authorization', authorization], socket: unasked() });

test.each(['tg_live_a', 'tg_mgmt_a', 'tgs_a'])('a database that is silent is not asked for a credential: %s', (token) => {
  expect(authenticate(`Bearer ${token}`)).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
});

test('a malformed credential is still refused as such while the database is silent', () => {
  expect(authenticate('Basic tg_live_a')).toThrow(expect.objectContaining({ code: 'invalid_credentials' }));
});
