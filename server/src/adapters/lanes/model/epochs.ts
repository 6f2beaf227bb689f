import type { Rule } from './checker.ts';
import { catchUp, each, endLeft, freed, isLeft, type Recovery, settledGone, tellLate } from './late.ts';
import { accepts, booked, type Entry, type Gateway, gatewayOf, harmed, inGateway, inRedis, type State, totalOf } from './state.ts';

export type { Recovery } from './late.ts';

const entriesOf = ({ copies }: Gateway): Entry[] => copies.flatMap((amount, request) => (amount === null ? [] : [{ request, amount }]));

const areAll = (state: State, done: (gateway: Gateway) => boolean): boolean =>
  state.gateways.every((gateway) => !gateway.isKnown || gateway.givenUp !== null || done(gateway));

/** `redis/partition-scripts.ts` run, `redis/epoch-record.ts` supersede: a script is refused, and the next epoch begins. */
const detect = each((state, index, { epoch }) => {
  if (epoch === 0 || accepts(state, epoch)) return undefined;
  const { number } = state.epoch;
  const next: State = number === epoch ? { ...state, epoch: { number: number + 1, state: 'recovering' } } : state;
  return { what: `gateway ${index} finds that Redis has lost something`, next: inGateway(next, index, { epoch: 0 }) };
});

/** The same while the lanes are loaded anew: a script of a declaration is refused. */
const detectAgain = each((state, index, { epoch, isLiving }) => {
  const { number, state: stage } = state.epoch;
  if (epoch !== 0 || !isLiving || stage === 'recovering' || accepts(state, number)) return undefined;
  return {
    what: `gateway ${index} finds that Redis has lost epoch ${number}`,
    next: { ...state, epoch: { number: number + 1, state: 'recovering' } },
  };
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
    const done = stands ? { drained, declared, settled: declared } : { drained: 0, declared: 0, settled: 0 };
    return { what: `gateway ${index} joins again`, next: joined(state, index, { epoch: 0, ...done }) };
  });

/** `redis/epoch-record.ts` join. */
const joined = (state: State, index: number, change: Partial<Gateway>): State => {
  const { isKnown, isLate } = gatewayOf(state, index);
  return inGateway(state, index, { isLiving: true, givenUp: null, isKnown: true, isLate: isLate || !isKnown, ...change });
};

/** A dead gateway is started again. */
const restart: Rule<State> = {
  kind: 'work',
  *steps(state) {
    for (const [index, { isAlive }] of state.gateways.entries())
      if (!isAlive)
        yield {
          what: `gateway ${index} starts`,
          next: joined(state, index, { isAlive: true, drained: 0, declared: 0, settled: 0 }),
        };
  },
};

/** A gateway that has been silent for `GATEWAY_ABSENCE_MS`. One that is dead may be; one that runs is away for so long only as a harm. */
const giveUp = ({ absent }: Recovery): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    if (state.epoch.state === 'open') return;
    for (const [index, { isAlive, isLiving, isKnown, givenUp }] of state.gateways.entries()) {
      if (isLiving || !isKnown || givenUp !== null) continue;
      const what = `gateway ${index} is taken for dead`;
      if (absent === 'left out') yield { what: `gateway ${index} is left out`, next: inGateway(state, index, { givenUp: 'left out' }) };
      else if (!isAlive) yield { what, next: inGateway(state, index, { givenUp: 'taken for dead' }) };
      else if (state.left.absences > 0) yield { what, next: inGateway(harmed(state, 'absences'), index, { givenUp: 'taken for dead' }) };
    }
  },
});

/** `redis/lane-epochs.ts` #drain, `app/lane-recovery.ts` drainCopies. */
const drainJournal = ({ reader }: Recovery): Rule<State> =>
  each((state, index, gateway) => {
    const { number, state: stage } = state.epoch;
    if (gateway.epoch !== 0 || !gateway.isLiving || gateway.drained === number) return undefined;
    // `idle`: what Redis has settled for it is in its journal, and what it has read of the stream is in the ledger.
    if (state.requests.some(({ gateway: owner, phase }) => owner === index && phase === 'settled')) return undefined;
    if (reader === 'waited for' && gateway.reading !== null) return undefined;
    const entries = entriesOf(gateway);
    if (gateway.isLate || stage === 'open' || entries.length === 0)
      return { what: `gateway ${index} has nothing to bring into the ledger`, next: inGateway(state, index, { drained: number }) };
    if (stage !== 'recovering')
      return { what: `gateway ${index} begins the next epoch`, next: { ...state, epoch: { number: number + 1, state: 'recovering' } } };
    const drained = { drained: number, copies: gateway.copies.map(() => null) };
    return { what: `gateway ${index} brings its journal into the ledger`, next: inGateway(booked(state, entries), index, drained) };
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
    yield { what: `the partition is of epoch ${number}`, next: { ...next, epoch: { number, state: 'declaring' } } };
  },
};

/** `redis/declare-holds.ts` declareOwn: what was not begun is given up, and what the ledger has is settled. */
const declare = ({ unbegun, rejoining }: Recovery): Rule<State> =>
  each((state, index, { epoch, isLiving, drained, declared, own }) => {
    const { number, state: stage } = state.epoch;
    if (stage === 'open' && rejoining === 'they stand') return undefined;
    if (epoch !== 0 || !isLiving || stage === 'recovering' || drained !== number || declared === number || !accepts(state, number))
      return undefined;
    const kept = own.map((isBegun) => (unbegun === 'given up' && isBegun === false ? null : isBegun));
    const holds = state.redis.holds.map((hold, request) => {
      const isBegun = kept[request] ?? null;
      if (isBegun === null || isBegun === 'late') return hold;
      if (state.requests[request]?.phase === 'settled' || (isBegun && state.ledger[request] !== null)) return hold;
      return hold && hold.mark !== 'doubt' ? hold : { mark: isBegun ? ('begun' as const) : ('taken' as const) };
    });
    const spent = state.redis.spent ?? totalOf(state.ledger);
    return {
      what: `gateway ${index} declares its holds`,
      next: inGateway(inRedis(state, { holds, spent }), index, { own: kept, declared: number }),
    };
  });

/** `redis/declare-holds.ts` missEpoch: it takes back what Redis has of its holds; of the rest, what the ledger does not have is late. */
const miss = ({ late }: Recovery): Rule<State> =>
  each((state, index, { epoch, isLiving, drained, declared, own, inFlight }) => {
    const { number, state: stage } = state.epoch;
    if (epoch !== 0 || !isLiving || stage !== 'open' || drained !== number || declared === number || !accepts(state, number))
      return undefined;
    if (state.requests.some(({ gateway, phase }) => gateway === index && phase === 'settled')) return undefined;
    const drainedStream = inRedis(booked(state, state.redis.stream), { stream: [] });
    const { holds } = drainedStream.redis;
    const kept = own.map((isBegun, request) => {
      if (isBegun === null || isBegun === false || !inFlight[request]) return null;
      if (isBegun === 'late' || holds[request] !== null || late === 'in the ledger alone') return isBegun;
      return drainedStream.ledger[request] === null ? ('late' as const) : null;
    });
    const adopted = holds.map((hold, request) => (hold && kept[request] === true ? { mark: 'begun' as const } : hold));
    return {
      what: `gateway ${index} has missed epoch ${number}`,
      next: inGateway(inRedis(drainedStream, { holds: adopted }), index, { own: kept, declared: number }),
    };
  });

/** `redis/declare-holds.ts` salvageHolds, `redis/epoch-record.ts` advance. */
const salvage: Rule<State> = {
  kind: 'work',
  *steps(state) {
    const { number, state: stage } = state.epoch;
    if (stage !== 'declaring' || !areAll(state, ({ declared }) => declared === number) || !accepts(state, number)) return;
    if (!state.gateways.some(({ isLiving }) => isLiving)) return;
    const salvaged = [...state.redis.holds.keys()].filter(
      (request) =>
        state.redis.holds[request] === null &&
        state.redis.olderHolds[request] &&
        !hasDeclared(state, request) &&
        state.ledger[request] === null,
    );
    const holds = state.redis.holds.map((hold, request) => (salvaged.includes(request) ? { mark: 'doubt' as const } : hold));
    const spent = state.redis.spent ?? totalOf(state.ledger);
    const next = inRedis(state, { holds, spent, olderHolds: holds.map(() => false) });
    yield { what: `all holds of epoch ${number} are on the lane`, next: { ...next, epoch: { number, state: 'settling' } } };
  },
};

/** `app/lane-recovery.ts` settleGone: what an earlier process had in flight is settled beside the holds, as far as it fits. */
const settleLeft = ({ left }: Recovery): Rule<State> =>
  each((state, index, gateway) => {
    const { number, state: stage } = state.epoch;
    const { epoch, isLiving, declared, settled, isDiskFull } = gateway;
    if (
      epoch !== 0 ||
      !isLiving ||
      isDiskFull ||
      stage !== 'settling' ||
      declared !== number ||
      settled === number ||
      !accepts(state, number)
    )
      return undefined;
    let next = freed(state, index);
    if (left === 'settled before')
      for (const request of gateway.inFlight.keys()) if (isLeft(state, gateway, request)) next = settledGone(next, index, request);
    return { what: `gateway ${index} has settled what it had in flight`, next: inGateway(next, index, { settled: number }) };
  });

/** `redis/epoch-record.ts` advance. */
const open: Rule<State> = {
  kind: 'work',
  *steps(state) {
    const { number, state: stage } = state.epoch;
    if (stage !== 'settling' || !areAll(state, ({ settled }) => settled === number)) return;
    if (!state.gateways.some(({ isLiving }) => isLiving)) return;
    const gateways = state.gateways.map((gateway) => (gateway.settled === number ? gateway : { ...gateway, isKnown: false }));
    yield { what: `epoch ${number} is open`, next: granted({ ...state, gateways, epoch: { number, state: 'open' } }) };
  },
};

/** The process of its gateway is the one that had it, and has said which holds it has. */
const hasDeclared = ({ requests, gateways, epoch }: State, request: number): boolean => {
  const { declared, own } = gateways[requests[request]?.gateway ?? 0] ?? {};
  return declared === epoch.number && own?.[request] !== null;
};

/** A provider may bill it, and the ledger does not say so. */
const isOwed = ({ requests, gateways, ledger }: State, request: number): boolean => {
  const { gateway = 0, bill = 0 } = requests[request] ?? {};
  const { own, inFlight, copies } = gateways[gateway] ?? {};
  return ledger[request] === null && (bill > 0 || own?.[request] === true || inFlight?.[request] === true || copies?.[request] !== null);
};

/** The line of a journal that had it cannot be read. */
const isSetAside = ({ gateways }: State, request: number): boolean => gateways.some(({ setAside }) => setAside[request] !== null);

/**
 * What is owed, and not held any more where Redis could have it, is the margin that is granted for gateways that were taken for dead, and for
 * lines of journals that are damaged.
 */
const granted = (state: State): State => ({
  ...state,
  granted: state.granted.map((is, request) => {
    const { isKnown = true, givenUp } = state.gateways[state.requests[request]?.gateway ?? 0] ?? {};
    const isUnknown = (!isKnown && givenUp === 'taken for dead') || isSetAside(state, request);
    return is || (isUnknown && state.redis.holds[request] === null && isOwed(state, request));
  }),
});

const adopt = each((state, index, { epoch, isLiving, declared }) => {
  const { number, state: stage } = state.epoch;
  if (epoch === number || stage !== 'open' || declared !== number || !isLiving) return undefined;
  return { what: `epoch ${number} is open for gateway ${index}`, next: inGateway(state, index, { epoch: number }) };
});

export const epochs = (how: Recovery): readonly Rule<State>[] => [
  ...[
    detect,
    detectAgain,
    hear,
    joinAgain(how),
    restart,
    giveUp(how),
    drainJournal(how),
    openPartitions,
    declare(how),
    salvage,
    settleLeft(how),
    open,
  ],
  ...[miss(how), adopt, endLeft(how), tellLate(how), catchUp],
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
