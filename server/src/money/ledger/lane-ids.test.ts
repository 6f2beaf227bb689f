import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { laneId, parseLaneId } from './lane-ids.ts';

const [accountId, month] = [newId(), '2026-11'];

test('a run is found again by its lane, under every ID that a caller may give it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (runId, livemode) => {
      expect(parseLaneId(laneId.run(accountId, livemode, runId))).toEqual({ kind: 'run', accountId, livemode, runId });
    }),
  );
});

test('no name of a run makes it the lane of another run, mode or account', () => {
  const other = newId();
  const ids = ['r', 'live:r', 'test:r', `${other}:live:r`].flatMap((name) => [
    laneId.run(accountId, true, name),
    laneId.run(accountId, false, name),
    laneId.run(other, true, name),
  ]);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every other lane says what it counts, for whom and when', () => {
  expect(parseLaneId(laneId.key(accountId, month))).toEqual({ kind: 'key', keyId: accountId, month });
  expect(parseLaneId(laneId.balance(accountId))).toEqual({ kind: 'balance', accountId });
  expect(parseLaneId(laneId.invoice(accountId, month))).toEqual({ kind: 'invoice', accountId, month });
  expect(parseLaneId(laneId.testFunds(accountId, month))).toEqual({ kind: 'test', accountId, month });
  expect(parseLaneId(laneId.quota(accountId, month))).toEqual({ kind: 'quota', accountId, month });
});

test('what names no lane is a mistake', () => {
  expect(() => parseLaneId('purse:1')).toThrow('No lane is named "purse:1"');
  expect(() => parseLaneId('')).toThrow();
});
