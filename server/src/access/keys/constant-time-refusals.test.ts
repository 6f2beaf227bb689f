import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Problem } from '../../kernel/problem.ts';
import { withConstantTimeRefusals } from './constant-time-refusals.ts';
import type { KeyGrant } from './key-directory.ts';

const REFUSAL_MS = 50;
const grant: KeyGrant = {
  principal: { kind: 'key', keyId: 'key-1', accountId: 'account-1', userId: 'user-1', role: 'member', scopes: new Set(), livemode: true },
  monthlyCap: null,
  plan: 'free',
};
const refusal = new Problem('invalid_credentials', 'No such key.');

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Milliseconds until `authenticate` settled. */
async function settledAfter(authenticate: () => KeyGrant | Promise<KeyGrant>): Promise<number> {
  const startedAt = performance.now();
  let settledAt: number | undefined;
  const settle = () => {
    settledAt = performance.now();
  };
  void Promise.resolve(withConstantTimeRefusals({ authenticate }, REFUSAL_MS).authenticate('tg_live_…')).then(settle, settle);
  while (settledAt === undefined) await vi.advanceTimersByTimeAsync(1);
  return settledAt - startedAt;
}

const after = <Value>(ms: number, outcome: () => Value) => new Promise<void>((resolve) => setTimeout(resolve, ms)).then(outcome);
const refuse = (): never => {
  throw refusal;
};

test('refuses after the same time whatever it had to read to find out', async () => {
  expect(await settledAfter(refuse)).toBe(REFUSAL_MS);
  expect(await settledAfter(() => Promise.reject(refusal))).toBe(REFUSAL_MS);
  expect(await settledAfter(() => after(20, refuse))).toBe(REFUSAL_MS);
});

test('lets a good key wait for nothing, and one in memory answer synchronously', async () => {
  expect(withConstantTimeRefusals({ authenticate: () => grant }).authenticate('tg_live_…')).toBe(grant);
  expect(await settledAfter(() => after(20, () => grant))).toBe(20);
  expect(vi.getTimerCount()).toBe(0);
});

test('reports at once that keys cannot be read', async () => {
  const broken = () => {
    throw new Error('database gone');
  };
  expect(await settledAfter(() => after(20, broken))).toBe(20);
});
