import { expect, test } from 'vitest';
import { overspent, unsettled } from './audit.ts';
import { explore, type Rule, type Verdict } from './checker.ts';
import { epochs, type Recovery, withoutEpochs } from './epochs.ts';
import { HARM } from './harm.ts';
import { begin, endLease, REQUESTS } from './requests.ts';
import { type Harm, type State, startOf } from './state.ts';

const MOST_STATES = 100_000;
const SOUND: Recovery = { unbegun: 'given up', left: 'booked before', rejoining: 'they stand' };
const ALWAYS = [...REQUESTS, ...HARM];
const USUAL: readonly Rule<State>[] = [...ALWAYS, ...begin('Redis'), endLease('in doubt')];

/** Two requests of two gateways on one lane that has room for one of them at its bound. */
const check = (rules: readonly Rule<State>[], harm: Partial<Harm>, faultAtRest = unsettled): Verdict =>
  explore({ start: startOf([0, 1], harm), rules, fault: overspent, faultAtRest }, MOST_STATES);

test.each<[name: string, harm: Partial<Harm>]>([
  ['a gateway dies, a clock leaps and an answer is lost', { crashes: 1, leaps: 1, lostAnswers: 1 }],
  ['Redis is emptied and an answer is lost', { losses: 1, lostAnswers: 1 }],
  ['a replica that missed writes takes over', { losses: 1, syncs: 1 }],
  ['a gateway is stopped and Redis is lost', { losses: 1, lapses: 1 }],
  ['a gateway dies and Redis is lost', { losses: 1, crashes: 1 }],
])('in whatever order %s, no cap is overspent, nothing is lost and nothing stays held', (_name, harm) => {
  const { counterexample, states } = check([...USUAL, ...epochs(SOUND)], harm);
  expect(counterexample).toBeUndefined();
  expect(states).toBeGreaterThan(1_000);
});

interface Unsound {
  readonly rules: readonly Rule<State>[];
  readonly harm: Partial<Harm>;
  /** Looks for overspent caps alone. */
  readonly ofCaps?: true;
  /** The shortest sequence of events that breaks it. */
  readonly trace: readonly string[];
}

/** Ways that were taken once, or are near at hand. */
const UNSOUND: Readonly<Record<string, Unsound>> = {
  // Before holds ended with their requests: the clock of another gateway, or Redis's, ends the lease of a call that is at its provider.
  'leases that free what was begun': {
    rules: [...ALWAYS, ...begin('Redis'), endLease('freed')],
    harm: { leaps: 1 },
    ofCaps: true,
    trace: [
      'the lane is loaded',
      'a is held',
      'a is begun',
      'a is asked, and billed 2',
      'the lease of a ends, it is freed',
      'b is held',
      'b is begun',
      'b is asked, and billed 2',
    ],
  },
  // Before there were epochs.
  'a Redis that nobody looks at after a loss': {
    rules: [...USUAL, ...withoutEpochs],
    harm: { losses: 1 },
    ofCaps: true,
    trace: [
      'the lane is loaded',
      'a is held',
      'a is begun',
      'Redis is empty',
      'a is asked, and billed 2',
      'nobody notices',
      'the lane is loaded',
      'b is held',
      'b is begun',
      'b is asked, and billed 2',
    ],
  },
  // Redis frees what it was not told of, and the journal charges it all the same.
  'a journal that knows of a call before Redis does': {
    rules: [...ALWAYS, ...begin('journal'), endLease('in doubt'), ...epochs(SOUND)],
    harm: { crashes: 1, leaps: 1 },
    trace: [
      'the lane is loaded',
      'a is held',
      'a is begun',
      'gateway 0 dies',
      'the lease of a ends, it is freed',
      'b is held',
      'b is begun',
      'b is asked, and billed 2',
      'b is settled',
      'gateway 0 starts',
      'gateway 0 brings its journal into the ledger',
      'gateway 0 declares its holds',
      'epoch 1 is open for gateway 0',
      'gateway 0 ends what it had in flight',
      'the copy of a is in the ledger',
    ],
  },
  // It was freed, and its gateway does not know.
  'a hold that was not begun and is put on the lanes of the next epoch': {
    rules: [...USUAL, ...epochs({ ...SOUND, unbegun: 'declared' })],
    harm: { losses: 1, leaps: 1 },
    trace: [
      'the lane is loaded',
      'a is held',
      'the lease of a ends, it is freed',
      'b is held',
      'b is begun',
      'Redis is empty',
      'b is asked, and billed 2',
      'gateway 0 finds that Redis has lost something',
      'gateway 1 finds that Redis has lost something',
      'gateway 0 brings its journal into the ledger',
      'gateway 1 brings its journal into the ledger',
      'the partition is of epoch 2',
      'gateway 0 declares its holds',
      'gateway 1 declares its holds',
      'epoch 2 is open',
      'epoch 2 is open for gateway 0',
      'a is begun',
      'a is asked, and billed 2',
    ],
  },
  // It is waited for, since it lives again, and says nothing of the calls of its last process.
  'a gateway that books what it had in flight after the epoch is open': {
    rules: [...USUAL, ...epochs({ ...SOUND, left: 'booked after' })],
    harm: { losses: 1, crashes: 1 },
    trace: [
      'the lane is loaded',
      'a is held',
      'a is begun',
      'Redis is empty',
      'a is asked, and billed 2',
      'gateway 0 dies',
      'gateway 1 finds that Redis has lost something',
      'gateway 0 starts',
      'gateway 0 brings its journal into the ledger',
      'gateway 1 brings its journal into the ledger',
      'the partition is of epoch 2',
      'gateway 0 declares its holds',
      'gateway 1 declares its holds',
      'epoch 2 is open',
      'epoch 2 is open for gateway 1',
      'b is held',
      'b is begun',
      'b is asked, and billed 2',
    ],
  },
  // The stream has their settlement, and the ledger does not yet.
  'a gateway that declares its holds again in an epoch that knows them': {
    rules: [...USUAL, ...epochs({ ...SOUND, rejoining: 'declared again' })],
    harm: { lapses: 1, leaps: 1 },
    trace: [
      'the lane is loaded',
      'a is held',
      'b is refused by the cap',
      'the session of gateway 0 lapses',
      'a is begun',
      'a is asked, and billed 1',
      'the lease of a ends, it is in doubt',
      'the doubt of a ends',
      'gateway 0 joins again',
      'gateway 0 brings its journal into the ledger',
      'gateway 0 declares its holds',
      'the copy of a is in the ledger',
      'a is acknowledged',
      'epoch 1 is open for gateway 0',
      'a is settled',
      'a is answered',
      'a is acknowledged',
      'the copy of a is in the ledger',
    ],
  },
};

test.each(Object.entries(UNSOUND))('%s is unsound, and the checker says why', (_name, { rules, harm, ofCaps, trace }) => {
  expect(check(rules, harm, ofCaps ? () => undefined : unsettled).counterexample?.trace).toEqual(trace);
});
