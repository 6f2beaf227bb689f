import type { Rule } from './checker.ts';
import { fillDisk } from './journal.ts';
import { accepts, type Gateway, harmed, inGateway, inRedis, type Phase, type Redis, type State } from './state.ts';

const NOTHING: Redis = { epoch: 0, isNamed: false, spent: null, holds: [], olderHolds: [], stream: [] };
const ENDED: readonly Phase[] = ['came', 'answered', 'refused', 'withheld', 'cut', 'stopped'];
const UNASKED: readonly Phase[] = ['held', 'begun'];

/** A gateway that has nothing to lose starts again as it was: there are fewer states to look at without its death. */
const hasSomething = ({ requests }: State, index: number, { inFlight, copies }: Gateway): boolean =>
  requests.some(({ gateway, phase }) => gateway === index && !ENDED.includes(phase)) ||
  inFlight.includes(true) ||
  copies.some((amount) => amount !== null);

const dead = ({ own }: Gateway): Partial<Gateway> => ({
  ...{ isAlive: false, epoch: 0, drained: 0, declared: 0, settled: 0 },
  reading: null,
  own: own.map(() => null),
});

/** Its requests that are not over end with it. */
const cut = (state: State, index: number, ending: (phase: Phase) => Phase): State => ({
  ...state,
  requests: state.requests.map((request) =>
    request.gateway === index && !ENDED.includes(request.phase) ? { ...request, phase: ending(request.phase) } : request,
  ),
});

/** `kill -9`: what was only in its memory is gone, its journal stays. */
const crash: Rule<State> = {
  kind: 'harm',
  *steps(state) {
    if (state.left.crashes === 0) return;
    for (const [index, gateway] of state.gateways.entries()) {
      if (!gateway.isAlive || !hasSomething(state, index, gateway)) continue;
      const next = inGateway(harmed(state, 'crashes'), index, dead(gateway));
      yield { what: `gateway ${index} dies`, next: cut(next, index, () => 'cut') };
    }
  },
};

/**
 * A gateway ends in order (`redis/unfreed-holds.ts` end, `redis/lane-epochs.ts` close). Calls that it has asked a provider for end as they do when it
 * dies: their bounds are in its journal.
 * @param unasked what becomes of holds of calls that nobody was asked for, where Redis cannot be told: the journal has them, and PostgreSQL where
 *   that is in reach; or nobody
 */
export const stop = (unasked: 'written down' | 'forgotten'): Rule<State> => ({
  kind: 'harm',
  *steps(state) {
    if (state.left.stops === 0) return;
    for (const [index, gateway] of state.gateways.entries()) {
      if (!gateway.isAlive || gateway.isDiskFull || !hasSomething(state, index, gateway)) continue;
      const isOpen = gateway.epoch !== 0 && accepts(state, gateway.epoch);
      const over = state.requests.map(
        ({ gateway: owner, phase }, request) => owner === index && UNASKED.includes(phase) && gateway.own[request] !== null,
      );
      const holds = state.redis.holds.map((hold, request) => (isOpen && over[request] ? null : hold));
      const { inFlight, unfreed, isLiving } = gateway;
      const isUntold = state.requests.map((_, request) => unasked === 'written down' && !isOpen && over[request] === true);
      const ended = inGateway(inRedis(harmed(state, 'stops'), { holds }), index, {
        ...dead(gateway),
        inFlight: inFlight.map((is, request) => is && !over[request]),
        unfreed: unfreed.map((is, request) => is || isUntold[request] === true),
      });
      const noted = state.noted.map((is, request) => is || (isLiving && isUntold[request] === true));
      const next = cut({ ...ended, noted }, index, (phase) => (UNASKED.includes(phase) ? 'stopped' : 'cut'));
      yield { what: `gateway ${index} ends in order`, next };
    }
  },
});

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
