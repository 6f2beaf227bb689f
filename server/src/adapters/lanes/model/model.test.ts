import { expect, test } from 'vitest';
import { overspent, unsettled } from './audit.ts';
import { explore, type Rule, type Verdict } from './checker.ts';
import { epochs, type Recovery, withoutEpochs } from './epochs.ts';
import { HARM, stop } from './harm.ts';
import { damage } from './journal.ts';
import { begin, endLease, requestsOf } from './requests.ts';
import { type Harm, type State, startOf } from './state.ts';

const MOST_STATES = 300_000;
const SOUND: Recovery = {
  ...{
    unbegun: 'given up',
    left: 'settled before',
    reader: 'waited for',
    rejoining: 'they stand',
    absent: 'waited for',
    late: 'as far as it fits',
  },
};
const ANY_HARM = [...HARM, damage('set aside'), stop('written down')];
const ALWAYS = [...requestsOf([]), ...ANY_HARM];
const USUAL: readonly Rule<State>[] = [...ALWAYS, ...begin('Redis'), endLease('in doubt')];
/** The hold of the first request carries what begins it; that of the second is begun by a command of its own. */
const FIRST_CARRIES = [...requestsOf([0]), ...ANY_HARM];
const BOTH_WAYS: readonly Rule<State>[] = [...FIRST_CARRIES, ...begin('Redis'), endLease('in doubt')];

/** Two requests of two gateways, unless others are named, on one lane that has room for one of them at its bound. */
const check = (
  rules: readonly Rule<State>[],
  harm: Partial<Harm>,
  faultAtRest = unsettled,
  requestsOn: readonly number[] = [0, 1],
): Verdict => explore({ start: startOf(requestsOn, harm), rules, fault: overspent, faultAtRest }, MOST_STATES);

test.each<[name: string, harm: Partial<Harm>]>([
  ['a gateway dies, a clock leaps and an answer is lost', { crashes: 1, leaps: 1, lostAnswers: 1 }],
  ['Redis is emptied and an answer is lost', { losses: 1, lostAnswers: 1 }],
  ['a replica that missed writes takes over', { losses: 1, syncs: 1 }],
  ['a gateway is out of reach, a clock leaps and Redis is lost', { losses: 1, lapses: 1, leaps: 1 }],
  ['a gateway is out of reach for too long and Redis is lost', { losses: 1, lapses: 1, absences: 1 }],
  ['one gateway dies, one is out of reach and Redis is lost', { losses: 1, lapses: 1, crashes: 1 }],
  ['Redis is lost twice, also while it is being loaded', { losses: 2 }],
  ['a gateway dies, its journal is damaged and Redis is lost', { losses: 1, crashes: 1, damages: 1 }],
  ['a gateway ends in order and Redis is lost', { losses: 1, stops: 1 }],
  ['a gateway is out of reach, and one ends in order', { stops: 1, lapses: 1 }],
  ['a disk is full and a gateway dies', { crashes: 1, fullDisks: 1 }],
  ['a disk is full and Redis is lost', { losses: 1, fullDisks: 1 }],
])('in whatever order %s, no cap is overspent, nothing is lost and nothing stays held', (_name, harm) => {
  const { counterexample, states } = check([...BOTH_WAYS, ...epochs(SOUND)], harm);
  expect(counterexample).toBeUndefined();
  expect(states).toBeGreaterThan(1_000);
});

interface Unsound {
  readonly rules: readonly Rule<State>[];
  readonly harm: Partial<Harm>;
  /** Looks for overspent caps alone. */
  readonly ofCaps?: true;
  /** The gateways of its requests, where one request is enough. */
  readonly requestsOn?: readonly number[];
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
    rules: [...ALWAYS, ...begin('journal'), endLease('in doubt'), ...epochs({ ...SOUND, late: 'in the ledger alone' })],
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
      'gateway 0 has nothing to bring into the ledger',
      'gateway 0 has missed epoch 1',
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
      'gateway 0 has nothing to bring into the ledger',
      'gateway 1 has nothing to bring into the ledger',
      'the partition is of epoch 2',
      'gateway 0 declares its holds',
      'gateway 1 declares its holds',
      'all holds of epoch 2 are on the lane',
      'gateway 0 has settled what it had in flight',
      'gateway 1 has settled what it had in flight',
      'epoch 2 is open',
      'epoch 2 is open for gateway 0',
      'a is begun',
      'a is asked, and billed 2',
    ],
  },
  // It is waited for, since it lives again, and says nothing of the calls of its last process.
  'a gateway that settles what it had in flight after the epoch is open': {
    rules: [...USUAL, ...epochs({ ...SOUND, left: 'settled after' })],
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
      'gateway 0 has nothing to bring into the ledger',
      'gateway 1 has nothing to bring into the ledger',
      'the partition is of epoch 2',
      'gateway 0 declares its holds',
      'gateway 1 declares its holds',
      'all holds of epoch 2 are on the lane',
      'gateway 0 has settled what it had in flight',
      'gateway 1 has settled what it had in flight',
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
      'a is asked, and billed 2',
      'the lease of a ends, it is in doubt',
      'the doubt of a ends',
      'gateway 0 joins again',
      'gateway 0 has nothing to bring into the ledger',
      'gateway 0 declares its holds',
      'epoch 1 is open for gateway 0',
      'a is settled',
      'a is answered',
      'the copy of a is in the ledger',
      'a is acknowledged',
      'a is acknowledged',
    ],
  },
  // It is stopped, or cut off from PostgreSQL, and a provider is at work for it.
  'an epoch that opens without a gateway that is out of reach': {
    rules: [...USUAL, ...epochs({ ...SOUND, absent: 'left out' })],
    harm: { losses: 1, lapses: 1 },
    trace: [
      'the lane is loaded',
      'a is held',
      'the session of gateway 0 lapses',
      'a is begun',
      'Redis is empty',
      'a is asked, and billed 2',
      'gateway 1 finds that Redis has lost something',
      'gateway 0 is left out',
      'gateway 1 has nothing to bring into the ledger',
      'the partition is of epoch 2',
      'gateway 1 declares its holds',
      'all holds of epoch 2 are on the lane',
      'gateway 1 has settled what it had in flight',
      'epoch 2 is open',
      'epoch 2 is open for gateway 1',
      'b is held',
      'b is begun',
      'b is asked, and billed 2',
    ],
  },
  // Redis was told with the hold, and lost it; the room was given away since.
  'a gateway that begins a call without looking at its session': {
    rules: [...FIRST_CARRIES, ...begin('Redis', 'of its session'), endLease('in doubt'), ...epochs(SOUND)],
    harm: { losses: 1, lapses: 1, absences: 1 },
    ofCaps: true,
    trace: [
      'the lane is loaded',
      'a is held',
      'the session of gateway 0 lapses',
      'Redis is empty',
      'gateway 1 finds that Redis has lost something',
      'gateway 0 is taken for dead',
      'gateway 1 has nothing to bring into the ledger',
      'the partition is of epoch 2',
      'gateway 1 declares its holds',
      'all holds of epoch 2 are on the lane',
      'gateway 1 has settled what it had in flight',
      'epoch 2 is open',
      'a is asked, and billed 2',
      'epoch 2 is open for gateway 1',
      'b is held',
      'b is begun',
      'b is asked, and billed 2',
    ],
  },
  // Only Redis knows of it.
  'a call that is asked although its journal cannot be written': {
    rules: [...ALWAYS, ...begin('Redis', 'of its journal'), endLease('in doubt'), ...epochs(SOUND)],
    harm: { losses: 1, crashes: 1, fullDisks: 1 },
    requestsOn: [0],
    trace: [
      'the lane is loaded',
      'a is held',
      'the disk of gateway 0 is full',
      'a is begun',
      'Redis is empty',
      'a is asked, and billed 1',
      'the disk of gateway 0 has room',
      'gateway 0 dies',
      'gateway 0 starts',
      'gateway 0 finds that Redis has lost epoch 1',
      'gateway 0 has nothing to bring into the ledger',
      'the partition is of epoch 2',
      'gateway 0 declares its holds',
      'all holds of epoch 2 are on the lane',
      'gateway 0 has settled what it had in flight',
      'epoch 2 is open',
      'epoch 2 is open for gateway 0',
    ],
  },
  // Redis had the only other copy.
  'lines of a journal that are skipped where they are damaged': {
    rules: [...requestsOf([]), ...HARM, damage('skipped'), ...begin('Redis'), endLease('in doubt'), ...epochs(SOUND)],
    harm: { losses: 1, damages: 1 },
    requestsOn: [0],
    trace: [
      'the lane is loaded',
      'a is held',
      'a is begun',
      'a is asked, and billed 1',
      'a is settled',
      'a is answered',
      'Redis is empty',
      'the journal of gateway 0 is damaged where it has a',
      'gateway 0 finds that Redis has lost something',
      'gateway 0 has nothing to bring into the ledger',
      'the partition is of epoch 2',
      'gateway 0 declares its holds',
      'all holds of epoch 2 are on the lane',
      'gateway 0 has settled what it had in flight',
      'epoch 2 is open',
      'epoch 2 is open for gateway 0',
    ],
  },
  // Redis holds it as begun: it is in doubt, and then settled at its bound.
  'a gateway that ends in order and forgets what Redis could not be told': {
    rules: [...requestsOf([0]), ...HARM, stop('forgotten'), ...begin('Redis'), endLease('in doubt'), ...epochs(SOUND)],
    harm: { stops: 1, lapses: 1 },
    requestsOn: [0],
    trace: [
      'the lane is loaded',
      'a is held',
      'the session of gateway 0 lapses',
      'gateway 0 joins again',
      'gateway 0 ends in order',
      'the lease of a ends, it is in doubt',
      'gateway 0 starts',
      'gateway 0 has nothing to bring into the ledger',
      'gateway 0 has missed epoch 1',
      'epoch 1 is open for gateway 0',
      'the doubt of a ends',
      'the copy of a is in the ledger',
      'a is acknowledged',
    ],
  },
  // Its room was given away when it was taken for dead.
  'a gateway that is taken for dead, and books all that it had when it is back': {
    rules: [...USUAL, ...epochs({ ...SOUND, late: 'in the ledger alone' })],
    harm: { losses: 1, crashes: 1 },
    trace: [
      'the lane is loaded',
      'a is held',
      'a is begun',
      'Redis is empty',
      'a is asked, and billed 1',
      'gateway 0 dies',
      'the session of gateway 0 lapses',
      'gateway 1 finds that Redis has lost something',
      'gateway 0 is taken for dead',
      'gateway 1 has nothing to bring into the ledger',
      'the partition is of epoch 2',
      'gateway 1 declares its holds',
      'all holds of epoch 2 are on the lane',
      'gateway 1 has settled what it had in flight',
      'epoch 2 is open',
      'gateway 0 starts',
      'gateway 0 has nothing to bring into the ledger',
      'gateway 0 has missed epoch 2',
      'epoch 2 is open for gateway 0',
      'epoch 2 is open for gateway 1',
      'b is held',
      'b is begun',
      'b is asked, and billed 2',
      'b is settled',
      'gateway 0 ends what it had in flight',
      'gateway 0 tells the lanes what it has settled',
    ],
  },
};

test.each(Object.entries(UNSOUND))('%s is unsound, and the checker says why', (_name, { rules, harm, ofCaps, requestsOn, trace }) => {
  const faultAtRest = ofCaps ? () => undefined : unsettled;
  expect(check(rules, harm, faultAtRest, requestsOn).counterexample?.trace).toEqual(trace);
});
