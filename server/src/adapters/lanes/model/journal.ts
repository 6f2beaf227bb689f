import type { Rule } from './checker.ts';
import {
  accepts,
  BOUND,
  booked,
  gatewayOf,
  harmed,
  inGateway,
  inRedis,
  nameOf,
  replaced,
  type State,
  settledLate,
  totalOf,
} from './state.ts';

/**
 * A line of a journal cannot be read any more: what a call was settled at, or, once its process is dead, that it was in flight.
 * @param line what becomes of it
 */
export const damage = (line: 'set aside' | 'skipped'): Rule<State> => ({
  kind: 'harm',
  *steps(state) {
    if (state.left.damages === 0) return;
    for (const [index, { isAlive, copies, inFlight, setAside }] of state.gateways.entries()) {
      for (const [request, amount] of copies.entries()) {
        if (amount === null && (isAlive || !inFlight[request])) continue;
        const next = inGateway(harmed(state, 'damages'), index, {
          copies: replaced(copies, request, null),
          inFlight: replaced(inFlight, request, amount !== null && inFlight[request] === true),
          ...(line === 'set aside' && { setAside: replaced(setAside, request, amount ?? BOUND) }),
        });
        yield { what: `the journal of gateway ${index} is damaged where it has ${nameOf(request)}`, next };
      }
    }
  },
});

/** `app/quarantine-replay.ts`: the lane is set to the ledger, then what the ledger lacks is settled late. An operator does it in the end. */
export const replay: Rule<State> = {
  kind: 'work',
  *steps(state) {
    if (state.epoch.state !== 'open' || !accepts(state, state.epoch.number)) return;
    for (const [index, { epoch, setAside, isDiskFull }] of state.gateways.entries()) {
      if (epoch !== state.epoch.number || isDiskFull) continue;
      for (const [request, cost] of setAside.entries()) {
        if (cost === null) continue;
        const what = `${nameOf(request)} is replayed from the quarantine of gateway ${index}`;
        const drained = inRedis(booked(state, state.redis.stream), { stream: [] });
        const cleared = inGateway(drained, index, { setAside: replaced(setAside, request, null) });
        if (cleared.ledger[request] !== null) {
          yield { what, next: cleared };
          continue;
        }
        const { state: settled, amount } = settledLate(inRedis(cleared, { spent: totalOf(cleared.ledger) }), request, cost);
        const { copies } = gatewayOf(settled, index);
        yield { what, next: inGateway(settled, index, { copies: replaced(copies, request, amount) }) };
      }
    }
  },
};

/** Nothing can be appended to the journal of a gateway, until its disk has room again. */
export const fillDisk: Rule<State> = {
  kind: 'harm',
  *steps(state) {
    if (state.left.fullDisks === 0) return;
    for (const [index, { isDiskFull }] of state.gateways.entries())
      if (!isDiskFull)
        yield { what: `the disk of gateway ${index} is full`, next: inGateway(harmed(state, 'fullDisks'), index, { isDiskFull: true }) };
  },
};

export const freeDisk: Rule<State> = {
  kind: 'work',
  *steps(state) {
    for (const [index, { isDiskFull }] of state.gateways.entries())
      if (isDiskFull) yield { what: `the disk of gateway ${index} has room`, next: inGateway(state, index, { isDiskFull: false }) };
  },
};
