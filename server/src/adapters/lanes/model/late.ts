import type { Rule } from './checker.ts';
import { accepts, BOUND, booked, type Gateway, gatewayOf, inGateway, inRedis, replaced, type State, settledLate } from './state.ts';

/** What the recovery of lanes may do in one way or another. */
export interface Recovery {
  /** Holds that were not begun, at the next epoch: given up, or put on the lanes again by a gateway that is in time. */
  readonly unbegun: 'given up' | 'declared';
  /** What a process that died had in flight, where its gateway is started again before the next epoch opens: settled before that, or after it. */
  readonly left: 'settled before' | 'settled after';
  /** What a gateway has read from a stream, at the next epoch: its journal counts as drained once that is booked, or before. */
  readonly reader: 'waited for' | 'not waited for';
  /** A gateway whose session had lapsed, in an epoch in which it has declared its holds: they stand, or are declared again. */
  readonly rejoining: 'they stand' | 'declared again';
  /** A gateway whose session has lapsed: the next epoch waits for it, or opens at once without it. */
  readonly absent: 'waited for' | 'left out';
  /** What a gateway has that an epoch was opened without: goes on the lanes as far as it fits, or into the ledger alone. */
  readonly late: 'as far as it fits' | 'in the ledger alone';
}

/** A rule for each gateway that runs. */
export const each = (steps: (state: State, index: number, gateway: Gateway) => { what: string; next: State } | undefined): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    for (const [index, gateway] of state.gateways.entries()) {
      const step = gateway.isAlive ? steps(state, index, gateway) : undefined;
      if (step) yield step;
    }
  },
});

/** It was in flight when an earlier process of the gateway died. */
export const isLeft = ({ requests }: State, { inFlight, own }: Gateway, request: number): boolean =>
  inFlight[request] === true && own[request] === null && requests[request]?.phase === 'cut';

/** `app/lane-recovery.ts` freeLeft: Redis is told of the holds that an earlier process could not tell it of. */
export const freed = (state: State, index: number): State => {
  const { unfreed } = gatewayOf(state, index);
  if (!unfreed.includes(true)) return state;
  const holds = state.redis.holds.map((hold, request) => (unfreed[request] ? null : hold));
  return inGateway(inRedis(state, { holds }), index, { unfreed: unfreed.map(() => false) });
};

/** No lane has it: it is settled, and the ledger has it once the stream is empty, or it is settled now. */
export function settledGone(state: State, index: number, request: number): State {
  const drained = inRedis(booked(state, state.redis.stream), { stream: [] });
  const { inFlight, copies } = gatewayOf(drained, index);
  const closed = { inFlight: replaced(inFlight, request, false) };
  if (drained.ledger[request] !== null) return inGateway(drained, index, closed);
  const { state: settled, amount } = settledLate(drained, request, BOUND);
  return inGateway(settled, index, { ...closed, copies: replaced(copies, request, amount) });
}

/**
 * `app/lane-recovery.ts` endLeft: what its journal says was in flight when it died is ended in Redis where that has it. Where neither Redis nor the
 * ledger has it, it is settled late.
 */
export const endLeft = ({ late }: Recovery): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    for (const [index, gateway] of state.gateways.entries()) {
      const { isAlive, epoch, inFlight, copies, isDiskFull } = gateway;
      if (!isAlive || epoch === 0 || !accepts(state, epoch)) continue;
      if (gateway.unfreed.includes(true)) yield { what: `gateway ${index} frees what it has asked nobody for`, next: freed(state, index) };
      for (const request of inFlight.keys()) {
        if (!isLeft(state, gateway, request)) continue;
        const { holds, spent, stream } = state.redis;
        const what = `gateway ${index} ends what it had in flight`;
        const isBegun = (holds[request] ?? { mark: 'taken' }).mark !== 'taken';
        if (isBegun) {
          const ended = {
            holds: replaced(holds, request, null),
            spent: (spent ?? 0) + BOUND,
            stream: [...stream, { request, amount: BOUND }],
          };
          const closed = { inFlight: replaced(inFlight, request, false), copies: replaced(copies, request, BOUND) };
          yield { what, next: inGateway(inRedis(state, ended), index, isDiskFull ? {} : closed) };
        } else if (!isDiskFull)
          yield { what, next: late === 'as far as it fits' ? settledGone(state, index, request) : bookedAlone(state, index, request) };
      }
    }
  },
});

function bookedAlone(state: State, index: number, request: number): State {
  const drained = inRedis(booked(state, state.redis.stream), { stream: [] });
  const { inFlight, copies } = gatewayOf(drained, index);
  return inGateway(drained, index, { inFlight: replaced(inFlight, request, false), copies: replaced(copies, request, BOUND) });
}

/** `app/lane-recovery.ts` unwrittenByNow: what a late gateway has settled before, and the ledger does not have. */
export const tellLate = ({ late }: Recovery): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    for (const [index, { isAlive, isKnown, isLate, epoch, copies, isDiskFull }] of state.gateways.entries()) {
      if (!isAlive || isDiskFull || !isKnown || !isLate || epoch === 0 || !accepts(state, epoch)) continue;
      const drained = inRedis(booked(state, state.redis.stream), { stream: [] });
      for (const [request, cost] of copies.entries()) {
        if (cost === null) continue;
        const what = `gateway ${index} tells the lanes what it has settled`;
        if (drained.ledger[request] !== null) {
          yield { what, next: inGateway(drained, index, { copies: replaced(copies, request, null) }) };
          continue;
        }
        const alone = { state: booked(drained, [{ request, amount: cost }]), amount: cost };
        const { state: settled, amount } = late === 'as far as it fits' ? settledLate(drained, request, cost) : alone;
        yield { what, next: inGateway(settled, index, { copies: replaced(copies, request, amount) }) };
      }
    }
  },
});

/** `redis/lane-epochs.ts` caughtUp. */
export const catchUp: Rule<State> = each((state, index, gateway) => {
  const { isKnown, isLate, epoch, own, copies, inFlight } = gateway;
  if (!isKnown || !isLate || epoch !== state.epoch.number || own.includes('late') || copies.some((copy) => copy !== null)) return undefined;
  if (inFlight.some((_, request) => isLeft(state, gateway, request))) return undefined;
  return { what: `gateway ${index} has caught up`, next: inGateway(state, index, { isLate: false }) };
});
