import type { Rule } from './checker.ts';
import { each } from './late.ts';
import { accepts, booked, harmed, inGateway, inRedis, inRequest, nameOf, requestOf, type State } from './state.ts';

/** `redis/redis-feed.ts`: the front of the stream is read into the memory of a gateway, and stays in the stream. */
const read: Rule<State> = each((state, index, { reading }) => {
  const [first] = state.redis.stream;
  if (!first || reading !== null || state.ledger[first.request] !== null) return undefined;
  return { what: `gateway ${index} reads ${nameOf(first.request)} from the stream`, next: inGateway(state, index, { reading: first }) };
});

/** `ledger/ledger-writer.ts`: it is booked later, whatever has become of the stream meanwhile. */
const book: Rule<State> = each((state, index, { reading }) =>
  reading === null
    ? undefined
    : {
        what: `gateway ${index} books ${nameOf(reading.request)}, which it had read`,
        next: inGateway(booked(state, [reading]), index, { reading: null }),
      },
);

/** What is booked leaves the stream. */
const acknowledge: Rule<State> = {
  kind: 'work',
  *steps(state) {
    const [first, ...rest] = state.redis.stream;
    if (first && state.ledger[first.request] !== null)
      yield { what: `${nameOf(first.request)} is acknowledged`, next: inRedis(state, { stream: rest }) };
  },
};

/** Redis settles a call, and the answer to its gateway is lost: it settles again. */
const settleUnheard: Rule<State> = {
  kind: 'harm',
  *steps(state) {
    const { holds, spent, stream } = state.redis;
    if (state.left.lostAnswers === 0) return;
    for (const [request, { phase, gateway, bill }] of state.requests.entries()) {
      const { isAlive, epoch, own } = state.gateways[gateway] ?? {};
      const isAsked = phase === 'asked' && isAlive && own?.[request] === true && holds[request] !== null;
      if (!isAsked || epoch !== state.redis.epoch || !state.redis.isNamed) continue;
      const settled = { holds: holds.with(request, null), spent: (spent ?? 0) + bill, stream: [...stream, { request, amount: bill }] };
      yield {
        what: `${nameOf(request)} is settled, and the answer to it is lost`,
        next: inRequest(inRedis(harmed(state, 'lostAnswers'), settled), request, { ...requestOf(state, request), isUnheard: true }),
      };
    }
  },
};

/**
 * `redis/redis-lanes.ts` renewLeases: Redis does not have a hold any more, so its gateway forgets it.
 * @param unheard what becomes of one that Redis may have settled unheard
 */
const renew = (unheard: 'kept' | 'forgotten'): Rule<State> =>
  each((state, index, { epoch, own }) => {
    if (epoch === 0 || !accepts(state, epoch)) return undefined;
    const request = state.requests.findIndex(
      ({ gateway, phase, isUnheard }, at) =>
        gateway === index &&
        phase === 'asked' &&
        own[at] === true &&
        state.redis.holds[at] === null &&
        (unheard === 'forgotten' || !isUnheard),
    );
    if (request < 0) return undefined;
    return {
      what: `gateway ${index} forgets the hold of ${nameOf(request)}, which Redis does not have`,
      next: inGateway(state, index, { own: own.with(request, null) }),
    };
  });

/** In the place of a stream that is read and booked in one step. */
export const readsAhead = (unheard: 'kept' | 'forgotten'): readonly Rule<State>[] => [
  read,
  book,
  acknowledge,
  settleUnheard,
  renew(unheard),
];
