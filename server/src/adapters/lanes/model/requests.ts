import type { Rule, Step } from './checker.ts';
import { freeDisk, replay } from './journal.ts';
import {
  accepts,
  BILLS,
  BOUND,
  booked,
  CAP,
  gatewayOf,
  harmed,
  inGateway,
  inRedis,
  inRequest,
  nameOf,
  type Phase,
  replaced,
  requestOf,
  type State,
  settledLate,
  totalOf,
} from './state.ts';

/** A rule for each request whose gateway lives and is in that phase. */
const when = (phase: Phase, steps: (state: State, request: number, gateway: number) => Iterable<Step<State>>): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    for (const [index, { phase: current, gateway }] of state.requests.entries())
      if (current === phase && gatewayOf(state, gateway).isAlive) yield* steps(state, index, gateway);
  },
});

/** Asks Redis under the epoch that is open for the gateway; nothing comes of it where that is not the epoch of the partition. */
const asks = (state: State, gateway: number): boolean => {
  const { isAlive, epoch } = gatewayOf(state, gateway);
  return isAlive && epoch !== 0 && accepts(state, epoch);
};

const withoutHold = (state: State, request: number): State => inRedis(state, { holds: replaced(state.redis.holds, request, null) });
const disowned = (state: State, request: number, gateway: number): State =>
  inGateway(state, gateway, { own: replaced(gatewayOf(state, gateway).own, request, null) });
const endedInJournal = (state: State, request: number, gateway: number): State =>
  inGateway(state, gateway, { inFlight: replaced(gatewayOf(state, gateway).inFlight, request, false) });

/** `redis/lane-loader.ts`: a lane that is missing is read from the ledger. */
const loadLane: Rule<State> = {
  kind: 'work',
  *steps(state) {
    if (state.redis.spent !== null || state.epoch.state === 'recovering') return;
    if (!accepts(state, state.epoch.number)) return;
    yield { what: 'the lane is loaded', next: inRedis(state, { spent: totalOf(state.ledger) }) };
  },
};

/** `redis/scripts.ts` HOLD, `redis/own-holds.ts` taken. An answer that is lost leaves a hold that nobody owns. */
const hold = (carrying: readonly number[]): Rule<State> =>
  when('came', function* (state, request, gateway) {
    const carries = carrying.includes(request);
    const { spent, holds } = state.redis;
    if (!asks(state, gateway) || spent === null) return;
    if (spent + BOUND * holds.filter((held) => held !== null).length + BOUND > CAP) {
      yield { what: `${nameOf(request)} is refused by the cap`, next: inRequest(state, request, { phase: 'refused' }) };
      return;
    }
    const held = inRedis(state, { holds: replaced(holds, request, { mark: carries ? 'begun' : 'taken' }) });
    if (state.left.lostAnswers > 0) {
      const next = harmed(inRequest(held, request, { phase: 'refused' }), 'lostAnswers');
      yield { what: `${nameOf(request)} is refused: the answer to its hold is lost`, next };
    }
    yield {
      what: `${nameOf(request)} is held`,
      next: inGateway(inRequest(held, request, { phase: carries ? 'begun' : 'held' }), gateway, {
        own: replaced(gatewayOf(state, gateway).own, request, false),
      }),
    };
  });

/** Redis does not have the hold: the call is given up before a provider is asked. */
const givenUp = (state: State, request: number, gateway: number): Step<State> => ({
  what: `${nameOf(request)} is refused: its hold is gone`,
  next: endedInJournal(disowned(inRequest(state, request, { phase: 'refused' }), request, gateway), request, gateway),
});

const beginInRedis = (from: Phase, go: (state: State, request: number) => Iterable<Step<State>>): Rule<State> =>
  when(from, function* (state, request, gateway) {
    if (!asks(state, gateway)) return;
    const { own } = gatewayOf(state, gateway);
    if (state.redis.holds[request] === null || own[request] === null) {
      yield givenUp(state, request, gateway);
      return;
    }
    const begun = inRedis(state, { holds: replaced(state.redis.holds, request, { mark: 'begun' }) });
    yield* go(inGateway(begun, gateway, { own: replaced(own, request, true) }), request);
  });

const beginInJournal = (
  from: Phase,
  go: (state: State, request: number) => Iterable<Step<State>>,
  careless?: 'of its session' | 'of its journal',
): Rule<State> =>
  when(from, function* (state, request, gateway) {
    const { own, inFlight, epoch, isLiving, isDiskFull } = gatewayOf(state, gateway);
    // Redis was told with the hold: whether its session is in order it looks by itself, which ends before others take it for dead.
    const isFenced = from === 'begun' && own[request] === false && (epoch === 0 || !isLiving);
    if (isFenced && careless !== 'of its session') return;
    if (own[request] === null) {
      yield givenUp(state, request, gateway);
      return;
    }
    if (isDiskFull) {
      // What cannot be recorded is not started: its hold is released.
      if (careless === 'of its journal') yield* go(inGateway(state, gateway, { own: replaced(own, request, true) }), request);
      else if (asks(state, gateway)) yield givenUp(withoutHold(state, request), request, gateway);
      return;
    }
    yield* go(inGateway(state, gateway, { inFlight: replaced(inFlight, request, true), own: replaced(own, request, true) }), request);
  });

/**
 * `redis/redis-lanes.ts` begin: what settles the call should the process die is in Redis and in the journal before a provider is asked.
 * @param careless what it does not look at before that
 */
export const begin = (first: 'Redis' | 'journal', careless?: 'of its session' | 'of its journal'): readonly Rule<State>[] =>
  first === 'Redis'
    ? [beginInRedis('held', isBegun), beginInJournal('begun', isAsked, careless)]
    : [beginInJournal('held', isBegun), beginInRedis('begun', isAsked)];

function* isBegun(state: State, request: number): Iterable<Step<State>> {
  yield { what: `${nameOf(request)} is begun`, next: inRequest(state, request, { phase: 'begun' }) };
}

/** `inference/calls/attempt.ts`: from now on its provider bills. */
function* isAsked(state: State, request: number): Iterable<Step<State>> {
  for (const bill of BILLS)
    yield { what: `${nameOf(request)} is asked, and billed ${bill}`, next: inRequest(state, request, { phase: 'asked', bill }) };
}

/**
 * `redis/scripts.ts` SETTLE. Where the hold is gone it was settled before, and the answer is withheld.
 * @param unheard what the journal has of such a call: what it comes to, or only that it was begun
 */
const settle = (unheard: 'copied' | 'begun'): Rule<State> =>
  when('asked', function* (state, request, gateway) {
    const { redis } = state;
    if (!asks(state, gateway)) return;
    const { bill } = requestOf(state, request);
    if (gatewayOf(state, gateway).own[request] === 'late') {
      yield {
        what: `${nameOf(request)} is settled late`,
        next: inRequest(settledLate(state, request, bill).state, request, { phase: 'settled' }),
      };
      return;
    }
    if (redis.holds[request] === null) {
      // Redis has settled it, and nobody heard: its stream may be lost, and with it what it was settled at.
      const { copies, isDiskFull, own } = gatewayOf(state, gateway);
      if (isDiskFull) return;
      const kept = inGateway(endedInJournal(state, request, gateway), gateway, { copies: replaced(copies, request, bill) });
      const next = unheard === 'copied' && own[request] !== null ? kept : state;
      yield { what: `${nameOf(request)} is withheld`, next: disowned(inRequest(next, request, { phase: 'withheld' }), request, gateway) };
      return;
    }
    const settled = inRedis(withoutHold(state, request), {
      spent: (redis.spent ?? 0) + bill,
      stream: [...redis.stream, { request, amount: bill }],
    });
    yield { what: `${nameOf(request)} is settled`, next: inRequest(settled, request, { phase: 'settled' }) };
  });

/** `redis/own-holds.ts` settled: the copy is written, and the last byte leaves. */
const answer = when('settled', function* (state, request, gateway) {
  const { copies, isDiskFull } = gatewayOf(state, gateway);
  if (isDiskFull) return;
  const amount = requestOf(state, request).bill - (state.waived[request] ?? 0);
  const copied = inGateway(state, gateway, { copies: replaced(copies, request, amount) });
  yield {
    what: `${nameOf(request)} is answered`,
    next: inRequest(disowned(endedInJournal(copied, request, gateway), request, gateway), request, { phase: 'answered' }),
  };
});

/**
 * `redis/lanes.lua.ts` expire. The process of a hold renews its lease, unless a clock leaps.
 * @param begun what becomes of a hold that was begun
 */
export const endLease = (begun: 'in doubt' | 'freed'): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    for (const [request, hold] of state.redis.holds.entries()) {
      if (hold === null || hold.mark === 'doubt') continue;
      const isOwned = state.gateways.some(({ isAlive, own }) => isAlive && own[request] !== null);
      if (isOwned && state.left.leaps === 0) continue;
      const left = isOwned ? harmed(state, 'leaps') : state;
      const isFreed = hold.mark === 'taken' || begun === 'freed';
      yield {
        what: `the lease of ${nameOf(request)} ends, it is ${isFreed ? 'freed' : 'in doubt'}`,
        next: inRedis(left, { holds: replaced(left.redis.holds, request, isFreed ? null : { mark: 'doubt' }) }),
      };
    }
  },
});

/**
 * `redis/scripts.ts` SWEEP, `redis/redis-lanes.ts` endInDoubt: the one who sweeps settles it at its bound, with a copy of its own, or frees it
 * where its gateway has noted that nobody was asked.
 */
const endDoubt: Rule<State> = {
  kind: 'work',
  *steps(state) {
    for (const [request, hold] of state.redis.holds.entries()) {
      if (hold?.mark !== 'doubt') continue;
      if (state.noted[request]) {
        const isSwept = state.gateways.some((_, sweeper) => asks(state, sweeper));
        if (isSwept) yield { what: `the doubt of ${nameOf(request)} ends, and it is freed`, next: withoutHold(state, request) };
        continue;
      }
      // PostgreSQL was out of reach as well: the next process of the gateway is there sooner.
      if (state.gateways.some(({ unfreed }) => unfreed[request])) continue;
      for (const [sweeper, { copies, isDiskFull }] of state.gateways.entries()) {
        if (!asks(state, sweeper)) continue;
        const { spent, stream } = state.redis;
        const settled = inRedis(withoutHold(state, request), {
          spent: (spent ?? 0) + BOUND,
          stream: [...stream, { request, amount: BOUND }],
        });
        yield {
          what: `the doubt of ${nameOf(request)} ends`,
          // Where it cannot be written, the journal of its own gateway has it in flight still.
          next: inGateway(settled, sweeper, { copies: isDiskFull ? copies : replaced(copies, request, BOUND) }),
        };
      }
    }
  },
};

/** `redis/redis-feed.ts`, `ledger/ledger-writer.ts`: the front of the stream is booked, then acknowledged. `reader.ts` has it in more steps. */
const readStream: Rule<State> = {
  kind: 'work',
  *steps(state) {
    const [first, ...rest] = state.redis.stream;
    if (!first) return;
    if (state.ledger[first.request] === null)
      yield { what: `${nameOf(first.request)} is booked from the stream`, next: booked(state, [first]) };
    else yield { what: `${nameOf(first.request)} is acknowledged`, next: inRedis(state, { stream: rest }) };
  },
};

/** `journal-copies.ts`: what has not arrived is booked from the journal, and forgotten once it is in the ledger. */
const writeCopies: Rule<State> = {
  kind: 'work',
  *steps(state) {
    for (const [index, { isAlive, isKnown, isLate, epoch, copies }] of state.gateways.entries()) {
      if (!isAlive || !isKnown || isLate || epoch !== state.epoch.number || state.epoch.state !== 'open') continue;
      for (const [request, amount] of copies.entries()) {
        // Compared with the ledger once the streams are empty.
        const isOnItsWay = state.redis.stream.some((entry) => entry.request === request && entry.amount !== amount);
        if (amount === null || isOnItsWay) continue;
        const written = booked(state, [{ request, amount }]);
        yield {
          what: `the copy of ${nameOf(request)} is in the ledger`,
          next: inGateway(written, index, { copies: replaced(copies, request, null) }),
        };
      }
    }
  },
};

/** `ledger/reconcile.ts`: a lane that has less than the ledger is raised to it. */
const reconcile: Rule<State> = {
  kind: 'work',
  *steps(state) {
    const { spent, stream } = state.redis;
    if (spent === null || !accepts(state, state.epoch.number) || state.epoch.state !== 'open') return;
    const known = totalOf(booked(state, stream).ledger);
    if (spent < known) yield { what: 'the lane is raised to the ledger', next: inRedis(state, { spent: known }) };
  },
};

/**
 * What happens to requests while nothing is lost, but for how they are begun and how their leases end.
 * @param carrying requests whose hold carries what begins them
 * @param reading how the stream is read
 * @param unheard as of {@link settle}
 */
export const requestsOf = (
  carrying: readonly number[],
  reading: readonly Rule<State>[] = [readStream],
  unheard: 'copied' | 'begun' = 'copied',
): readonly Rule<State>[] => [
  loadLane,
  hold(carrying),
  settle(unheard),
  answer,
  endDoubt,
  ...reading,
  writeCopies,
  reconcile,
  replay,
  freeDisk,
];
