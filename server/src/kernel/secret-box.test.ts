import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecretBox } from './secret-box.ts';

const old = { id: 'old', key: randomBytes(32) };
const current = { id: '2026', key: randomBytes(32) };
const box = createSecretBox([current, old]);

test('what is sealed opens in its own context only', () => {
  const sealed = box.seal('JBSWY3DP', 'mfa secret of 1');
  expect(sealed).not.toContain('JBSWY3DP');
  expect(box.open(sealed, 'mfa secret of 1')).toEqual({ plain: 'JBSWY3DP', isStale: false });
  expect(() => box.open(sealed, 'mfa secret of 2')).toThrow();
});

test('sealing twice gives different bytes, so that equal secrets cannot be recognized', () => {
  expect(box.seal('x', 'c')).not.toBe(box.seal('x', 'c'));
});

test('opens what an older key sealed, and says that it is stale', () => {
  const sealed = createSecretBox([old]).seal('x', 'c');
  expect(box.open(sealed, 'c')).toEqual({ plain: 'x', isStale: true });
  expect(() => createSecretBox([current]).open(sealed, 'c')).toThrow('"old"');
});

test('a change of any byte is noticed, and so is what is no sealed text', () => {
  const sealed = box.seal('JBSWY3DP', 'c');
  const bytes = Buffer.from(sealed.slice('v1.2026.'.length), 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const broken = Buffer.from(bytes);
    broken.writeUInt8(broken.readUInt8(at) ^ 1, at);
    expect(() => box.open(`v1.2026.${broken.toString('base64url')}`, 'c')).toThrow();
  }
  for (const text of ['', 'v1.2026.', 'v1.2026.AA', 'JBSWY3DP']) expect(() => box.open(text, 'c')).toThrow();
});
