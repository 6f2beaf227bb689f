import type { Rule } from './checker.ts';
import { fillDisk } from './journal.ts';
import { type Gateway, harmed, inGateway, type Phase, type Redis, type State } from './state.ts';

const NOTHING: Redis = { epoch: 0, isNamed: false, spent: null, holds: [], olderHolds: [], stream: [] };
const ENDED: readonly Phase[] = ['came', 'answered', 'refused', 'withheld', 'cut'];

/** A gateway that has nothing to lose starts again as it was: there are fewer states to look at without its death. */
const hasSomething = ({ requests }: State, index: number, { inFlight, copies }: Gateway): boolean =>
  requests.some(({ gateway, phase }) => gateway === index && !ENDED.includes(phase)) ||
  inFlight.includes(true) ||
  copies.some((amount) => amount !== null);

/** `kill -9`: what was only in its memory is gone, its journal stays. */
const crash: Rule<State> = {
  kind: 'harm',
  *steps(state) {
    if (state.left.crashes === 0) return;
    for (const [index, gateway] of state.gateways.entries()) {
      const { isAlive, own } = gateway;
      if (!isAlive || !hasSomething(state, index, gateway)) continue;
      const dead = inGateway(harmed(state, 'crashes'), index, {
        isAlive: false,
        epoch: 0,
        drained: 0,
        declared: 0,
        settled: 0,
        own: own.map(() => null),
      });
      const requests = dead.requests.map((request) =>
        request.gateway === index && !ENDED.includes(request.phase) ? { ...request, phase: 'cut' as const } : request,
      );
      yield { what: `gateway ${index} dies`, next: { ...dead, requests } };
    }
  },
};

/** A gateway that is stopped for so long that others no longer wait for it; it does not know. */
const lapse: Rule<State> = {
  kind: 'harm',
  *steps(state) {
    for (const [index, { isAlive, isLiving }] of state.gateways.entries()) {
      if (!isLiving || (isAlive && state.left.lapses === 0)) continue;
      const next = inGateway(isAlive ? harmed(state, 'lapses') : state, index, { isLiving: false });
      yield { what: `the session of gateway ${index} lapses`, next };
    }
  },
};

/** A replica that nobody will use any more is the same everywhere: there are fewer states to look at. */
function lost(state: State, redis: Redis): State {
  const next = { ...harmed(state, 'losses'), redis };
  return next.left.losses === 0 ? { ...next, replica: NOTHING, left: { ...next.left, syncs: 0 } } : next;
}

const emptyOf = ({ requests }: State): Redis => ({
  ...NOTHING,
  holds: requests.map(() => null),
  olderHolds: requests.map(() => false),
});

/** FLUSHALL, or an empty server in its place. */
const flush: Rule<State> = {
  kind: 'harm',
  *steps(state) {
    if (state.left.losses === 0) return;
    yield { what: 'Redis is empty', next: lost(state, emptyOf(state)) };
  },
};

/** The replica, or the dump, has what there is now. */
const sync: Rule<State> = {
  kind: 'harm',
  *steps(state) {
    if (state.left.syncs > 0 && state.left.losses > 0)
      yield { what: 'the replica is told', next: { ...harmed(state, 'syncs'), replica: state.redis } };
  },
};

/** A failover, or a restart with an older dump: another server than the one that the mark names, without the last writes. */
const failOver: Rule<State> = {
  kind: 'harm',
  *steps(state) {
    if (state.left.losses === 0) return;
    const { replica } = state;
    // One that was never told is like an empty server, whose mark is missing where this one's names another server: both are refused.
    const isEmpty = replica.spent === null && replica.stream.length === 0;
    yield { what: 'the replica is the master', next: lost(state, isEmpty ? emptyOf(state) : { ...replica, isNamed: false }) };
  },
};

export const HARM: readonly Rule<State>[] = [crash, lapse, flush, sync, failOver, fillDisk];
