import type { Rule } from './checker.ts';
import { accepts, BOUND, booked, type Entry, type Gateway, inGateway, inRedis, replaced, type State, totalOf } from './state.ts';

/** What the recovery of lanes may do in one way or another. */
export interface Recovery {
  /** Holds that were not begun, at the next epoch: given up, or put on the lanes again by a gateway that is in time. */
  readonly unbegun: 'given up' | 'declared';
  /** What a process that died had in flight, where its gateway is started again before the next epoch opens: booked before that, or after it. */
  readonly left: 'booked before' | 'booked after';
  /** A gateway whose session had lapsed, in an epoch in which it has declared its holds: they stand, or are declared again. */
  readonly rejoining: 'they stand' | 'declared again';
}

/** A rule for each gateway that runs. */
const each = (steps: (state: State, index: number, gateway: Gateway) => { what: string; next: State } | undefined): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    for (const [index, gateway] of state.gateways.entries()) {
      const step = gateway.isAlive ? steps(state, index, gateway) : undefined;
      if (step) yield step;
    }
  },
});

/** It was in flight when an earlier process of the gateway died. */
const isLeft = ({ requests }: State, { inFlight, own }: Gateway, request: number): boolean =>
  inFlight[request] === true && own[request] === null && requests[request]?.phase === 'cut';

const entriesOf = ({ copies }: Gateway): Entry[] => copies.flatMap((amount, request) => (amount === null ? [] : [{ request, amount }]));

const areAll = (state: State, done: (gateway: Gateway) => boolean): boolean =>
  state.gateways.every((gateway) => !gateway.isLiving || done(gateway));

/** `redis/partition-scripts.ts` run, `redis/epoch-record.ts` supersede: a script is refused, and the next epoch begins. */
const detect = each((state, index, { epoch }) => {
  if (epoch === 0 || accepts(state, epoch)) return undefined;
  const { number } = state.epoch;
  const next: State = number === epoch ? { ...state, epoch: { number: number + 1, state: 'recovering' } } : state;
  return { what: `gateway ${index} finds that Redis has lost something`, next: inGateway(next, index, { epoch: 0 }) };
});

/** `redis/lane-epochs.ts` #beat. */
const hear = each((state, index, { epoch }) =>
  epoch === 0 || (state.epoch.number === epoch && state.epoch.state === 'open')
    ? undefined
    : { what: `gateway ${index} hears of the next epoch`, next: inGateway(state, index, { epoch: 0 }) },
);

/** `redis/epoch-record.ts` join after a lapse, `redis/lane-epochs.ts` #rejoined. */
const joinAgain = ({ rejoining }: Recovery): Rule<State> =>
  each((state, index, { isLiving, drained, declared }) => {
    if (isLiving) return undefined;
    const stands = rejoining === 'they stand' && state.epoch.state === 'open' && declared === state.epoch.number;
    const done = stands ? { drained, declared } : { drained: 0, declared: 0 };
    return { what: `gateway ${index} joins again`, next: inGateway(state, index, { isLiving: true, epoch: 0, ...done }) };
  });

/** A dead gateway is started again. */
const restart: Rule<State> = {
  kind: 'work',
  *steps(state) {
    for (const [index, { isAlive }] of state.gateways.entries())
      if (!isAlive)
        yield {
          what: `gateway ${index} starts`,
          next: inGateway(state, index, { isAlive: true, isLiving: true, drained: 0, declared: 0 }),
        };
  },
};

/** `redis/lane-epochs.ts` #drain, `app/lane-recovery.ts` drainJournal. */
const drainJournal = ({ left }: Recovery): Rule<State> =>
  each((state, index, gateway) => {
    const { number, state: stage } = state.epoch;
    if (gateway.epoch !== 0 || !gateway.isLiving || gateway.drained === number) return undefined;
    // `idle`: what Redis has settled for it is in its journal.
    if (state.requests.some(({ gateway: owner, phase }) => owner === index && phase === 'settled')) return undefined;
    if (left === 'booked before' && stage === 'declaring' && gateway.inFlight.some((_, request) => isLeft(state, gateway, request)))
      return { what: `gateway ${index} begins the next epoch`, next: { ...state, epoch: { number: number + 1, state: 'recovering' } } };
    const isBooked = (request: number): boolean => left === 'booked before' && stage === 'recovering' && isLeft(state, gateway, request);
    const ended = gateway.inFlight.flatMap((_, request) => (isBooked(request) ? [{ request, amount: BOUND }] : []));
    const written = booked(state, [...entriesOf(gateway), ...ended]);
    const drained = {
      ...{ drained: number, isLate: stage !== 'recovering', copies: gateway.copies.map(() => null) },
      inFlight: gateway.inFlight.map((isInFlight, request) => isInFlight && !isBooked(request)),
    };
    const next = inGateway(
      { ...written, granted: state.granted.map((is, request) => is || ended.some((entry) => entry.request === request)) },
      index,
      drained,
    );
    return { what: `gateway ${index} brings its journal into the ledger`, next };
  });

/** `redis/epoch-scripts.ts` OPEN, then the streams are drained. */
const openPartitions: Rule<State> = {
  kind: 'work',
  *steps(state) {
    const { number, state: stage } = state.epoch;
    if (stage !== 'recovering' || !areAll(state, ({ drained }) => drained === number) || !state.gateways.some(({ isLiving }) => isLiving))
      return;
    const { holds, olderHolds, stream } = state.redis;
    const redis = {
      ...{ epoch: number, isNamed: true, spent: null, stream: [], holds: holds.map(() => null) },
      olderHolds: olderHolds.map((isOlder, request) => isOlder || (holds[request] ?? { mark: 'taken' }).mark !== 'taken'),
    };
    const next = inRedis(booked(state, stream), redis);
    yield { what: `the partition is of epoch ${number}`, next: granted({ ...next, epoch: { number, state: 'declaring' } }) };
  },
};

/** `redis/declare-holds.ts` declareOwn: what was not begun is given up, and what the ledger has is settled. */
const declare = ({ unbegun }: Recovery): Rule<State> =>
  each((state, index, { epoch, isLiving, drained, declared, isLate, own }) => {
    const { number, state: stage } = state.epoch;
    if (epoch !== 0 || !isLiving || stage === 'recovering' || drained !== number || declared === number || !accepts(state, number))
      return undefined;
    const kept = own.map((isBegun) => ((isLate || unbegun === 'given up') && isBegun === false ? null : isBegun));
    const holds = state.redis.holds.map((hold, request) => {
      const isBegun = kept[request] ?? null;
      if (isBegun === null || state.requests[request]?.phase === 'settled' || (isBegun && state.ledger[request] !== null)) return hold;
      return hold && hold.mark !== 'doubt' ? hold : { mark: isBegun ? ('begun' as const) : ('taken' as const) };
    });
    const spent = state.redis.spent ?? totalOf(state.ledger);
    return {
      what: `gateway ${index} declares its holds`,
      next: inGateway(inRedis(state, { holds, spent }), index, { own: kept, declared: number }),
    };
  });

/** `redis/declare-holds.ts` salvageHolds, `redis/epoch-record.ts` advance. */
const open: Rule<State> = {
  kind: 'work',
  *steps(state) {
    const { number, state: stage } = state.epoch;
    if (stage !== 'declaring' || !areAll(state, ({ declared }) => declared === number) || !accepts(state, number)) return;
    if (!state.gateways.some(({ isLiving }) => isLiving)) return;
    const salvaged = [...state.redis.holds.keys()].filter(
      (request) =>
        state.redis.holds[request] === null &&
        state.redis.olderHolds[request] &&
        isOfDead(state, request) &&
        state.ledger[request] === null,
    );
    const holds = state.redis.holds.map((hold, request) => (salvaged.includes(request) ? { mark: 'doubt' as const } : hold));
    const spent = state.redis.spent ?? totalOf(state.ledger);
    const next = inRedis(state, { holds, spent, olderHolds: holds.map(() => false) });
    yield { what: `epoch ${number} is open`, next: granted({ ...next, epoch: { number, state: 'open' } }) };
  },
};

const isOfDead = ({ requests, gateways }: State, request: number): boolean => gateways[requests[request]?.gateway ?? 0]?.isLiving === false;

/** A provider may bill it, and the ledger does not say so: the margin, where its gateway is dead and Redis has lost it. */
const isOwed = ({ requests, gateways, ledger }: State, request: number): boolean => {
  const { gateway = 0, bill = 0 } = requests[request] ?? {};
  const { own, inFlight, copies } = gateways[gateway] ?? {};
  return ledger[request] === null && (bill > 0 || own?.[request] === true || inFlight?.[request] === true || copies?.[request] !== null);
};

/** What is owed, and not held any more where Redis could have it, is the margin that is granted for gateways that are not there. */
const granted = (state: State): State => ({
  ...state,
  granted: state.granted.map(
    (is, request) => state.redis.holds[request] === null && (is || (isOfDead(state, request) && isOwed(state, request))),
  ),
});

const adopt = each((state, index, { epoch, isLiving, declared }) => {
  const { number, state: stage } = state.epoch;
  if (epoch === number || stage !== 'open' || declared !== number || !isLiving) return undefined;
  return { what: `epoch ${number} is open for gateway ${index}`, next: inGateway(state, index, { epoch: number }) };
});

/** `app/lane-recovery.ts` endLeft: what its journal says was in flight when it died is ended in Redis where that has it, else in the ledger. */
const endLeft: Rule<State> = {
  kind: 'work',
  *steps(state) {
    for (const [index, gateway] of state.gateways.entries()) {
      const { isAlive, epoch, inFlight, copies } = gateway;
      if (!isAlive || epoch === 0 || !accepts(state, epoch)) continue;
      for (const request of inFlight.keys()) {
        if (!isLeft(state, gateway, request)) continue;
        const { holds, spent, stream } = state.redis;
        const drained = inRedis(booked(state, stream), { stream: [] });
        const isBegun = (holds[request] ?? { mark: 'taken' }).mark !== 'taken';
        const ended = inRedis(drained, {
          holds: replaced(holds, request, null),
          ...(isBegun && { spent: (spent ?? 0) + BOUND, stream: [{ request, amount: BOUND }] }),
        });
        const closed = { inFlight: replaced(inFlight, request, false), copies: replaced(copies, request, BOUND) };
        yield { what: `gateway ${index} ends what it had in flight`, next: inGateway(ended, index, closed) };
      }
    }
  },
};

export const epochs = (how: Recovery): readonly Rule<State>[] => [
  ...[detect, hear, joinAgain(how), restart, drainJournal(how), openPartitions, declare(how), open, adopt, endLeft],
];

/** Where nobody looks whether Redis is what it was. */
export const withoutEpochs: readonly Rule<State>[] = [
  {
    kind: 'work',
    *steps(state) {
      const { number } = state.epoch;
      if (!accepts(state, number)) yield { what: 'nobody notices', next: inRedis(state, { epoch: number, isNamed: true }) };
    },
  },
];
