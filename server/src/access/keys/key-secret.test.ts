import { expect, test } from 'vitest';
import { formatKey, keyPrefix, newLookupId, newSecret, parseKey } from './key-secret.ts';

const parts = { kind: 'live' as const, lookupId: '4f0Zk1x8QbRm', secret: 'abcdefghijklmnopqrstuvwxyzABCDEF' };

test('a key is tg_live_ or tg_test_, 12 of id, 32 of secret and 6 of checksum, and parses to its parts', () => {
  const fresh = { kind: 'test' as const, lookupId: newLookupId(), secret: newSecret() };
  const key = formatKey(fresh);
  expect(key).toMatch(/^tg_test_[0-9A-Za-z]{50}$/);
  expect(parseKey(key)).toEqual(fresh);
  expect(formatKey(parts).startsWith(keyPrefix(parts))).toBe(true);
});

test('a management key has a prefix of its own', () => {
  const key = formatKey({ ...parts, kind: 'mgmt' });
  expect(key).toMatch(/^tg_mgmt_[0-9A-Za-z]{50}$/);
  expect(parseKey(key)).toEqual({ ...parts, kind: 'mgmt' });
  expect(parseKey(key.replace('mgmt', 'live'))).toBeUndefined();
});

test('the checksum stays what it was in every earlier version', () => {
  expect(formatKey(parts)).toBe('tg_live_4f0Zk1x8QbRmabcdefghijklmnopqrstuvwxyzABCDEF1Ggcwk');
});

test('every single mistyped character is noticed', () => {
  const key = formatKey(parts);
  for (let at = 0; at < key.length; at++) {
    const typo = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
    expect(parseKey(typo)).toBeUndefined();
  }
});

test.each(['', 'tg_live_', 'sk-abc', `${formatKey(parts)} `, `${formatKey(parts)}0`])('%j is no key', (text) =>
  expect(parseKey(text)).toBeUndefined(),
);
