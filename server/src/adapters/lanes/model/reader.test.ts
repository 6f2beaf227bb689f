import { expect, test } from 'vitest';
import { overspent, unsettled } from './audit.ts';
import { explore } from './checker.ts';
import { epochs, type Recovery } from './epochs.ts';
import { HARM } from './harm.ts';
import { readsAhead } from './reader.ts';
import { begin, endLease, requestsOf } from './requests.ts';
import { startOf } from './state.ts';

const MOST_STATES = 300_000;

/** Redis is lost, and so is the answer to a call that it has settled, of which a gateway has read what it settled it at. */
const check = (
  reader: Recovery['reader'],
  requestsOn: readonly number[],
  unheard: 'copied' | 'begun' = 'copied',
  renewed: 'kept' | 'forgotten' = 'kept',
) =>
  explore(
    {
      start: startOf(requestsOn, { losses: 1, lostAnswers: 1 }),
      rules: [
        ...[...requestsOf([], readsAhead(renewed), unheard), ...HARM, ...begin('Redis'), ...[endLease('in doubt')]],
        ...epochs({
          unbegun: 'given up',
          left: 'settled before',
          reader,
          rejoining: 'they stand',
          absent: 'waited for',
          late: 'as far as it fits',
        }),
      ],
      fault: overspent,
      faultAtRest: unsettled,
    },
    MOST_STATES,
  );

test('in whatever order a gateway books what it has read, and Redis is lost, nothing counts twice', () => {
  const { counterexample, states } = check('waited for', [0, 1]);
  expect(counterexample).toBeUndefined();
  expect(states).toBeGreaterThan(1_000);
});

test('lanes that are loaded before what was read of the old ones is booked count a call twice', () => {
  const { counterexample } = check('not waited for', [0]);
  expect(counterexample?.fault).toBe('the lane has 2, and the ledger 1');
  expect(counterexample?.trace).toEqual([
    ...['the lane is loaded', 'a is held', 'a is begun', 'a is asked, and billed 1', 'a is settled, and the answer to it is lost'],
    'gateway 0 reads a from the stream',
    'Redis is empty',
    'gateway 0 finds that Redis has lost something',
    'gateway 0 has nothing to bring into the ledger',
    'the partition is of epoch 2',
    'gateway 0 declares its holds',
    'gateway 0 books a, which it had read',
    ...['all holds of epoch 2 are on the lane', 'gateway 0 has settled what it had in flight', 'epoch 2 is open'],
    ...['the lane is raised to the ledger', 'epoch 2 is open for gateway 0', 'a is settled', 'a is answered', 'a is acknowledged'],
    'the copy of a is in the ledger',
  ]);
});

test('a call that Redis has settled unheard, and that the journal has as begun alone, is lost with Redis', () => {
  const { counterexample } = check('waited for', [0], 'begun');
  expect(counterexample?.fault).toBe('a call is billed 1, and settled at 0');
  expect(counterexample?.trace.slice(4, 7)).toEqual(['a is settled, and the answer to it is lost', 'a is withheld', 'Redis is empty']);
});

test('a call that Redis has settled unheard, and whose gateway forgets it as it renews its lease, is lost with Redis', () => {
  const { counterexample } = check('waited for', [0], 'copied', 'forgotten');
  expect(counterexample?.fault).toBe('a call is billed 1, and settled at 0');
  expect(counterexample?.trace.slice(4, 8)).toEqual([
    'a is settled, and the answer to it is lost',
    'gateway 0 forgets the hold of a, which Redis does not have',
    'a is withheld',
    'Redis is empty',
  ]);
});
