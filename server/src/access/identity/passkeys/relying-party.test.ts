import { expect, test } from 'vitest';
import { relyingPartyOf } from './relying-party.ts';

const GIVEN = { publicUrl: 'https://gateway.example.com', webUrl: undefined, rpId: undefined, origins: [] };

test.each<[string, Partial<Parameters<typeof relyingPartyOf>[0]>, ReturnType<typeof relyingPartyOf>]>([
  ['the host of the public address', {}, { rpId: 'gateway.example.com', origins: ['https://gateway.example.com'] }],
  [
    'localhost where the gateway is on this machine',
    { publicUrl: 'http://127.0.0.1:8787' },
    { rpId: 'localhost', origins: ['http://localhost:8787'] },
  ],
  ['nothing at an IP address', { publicUrl: 'https://192.0.2.7' }, undefined],
  ['nothing at an IPv6 address', { publicUrl: 'https://[2001:db8::7]' }, undefined],
  [
    'no web front end of another domain',
    { webUrl: 'https://www.example.com' },
    { rpId: 'gateway.example.com', origins: ['https://gateway.example.com'] },
  ],
  [
    'the web front end below the domain that is named, and apps',
    { webUrl: 'https://www.example.com', rpId: 'example.com', origins: ['android:apk-key-hash:AAAAAAAAAAAAAAAAAAAAAAAAAAA'] },
    {
      rpId: 'example.com',
      origins: ['https://gateway.example.com', 'https://www.example.com', 'android:apk-key-hash:AAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    },
  ],
])('passkeys are for %s', (_what, given, expected) => {
  expect(relyingPartyOf({ ...GIVEN, ...given })).toEqual(expected);
});
