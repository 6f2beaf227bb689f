/** Requests and gateways are numbered from 0. Each request belongs to one gateway, and may cost up to {@link BOUND}; what its provider bills is drawn. */
export const BOUND = 2;
/** Of the one lane: two requests fit only when the first one costs less than its bound. */
export const CAP = 3;
/** What a provider may bill. */
export const BILLS = [1, BOUND] as const;

export interface Hold {
  /** `taken` is freed when its lease ends, `begun` becomes `doubt`. */
  readonly mark: 'taken' | 'begun' | 'doubt';
}

/** A settled request, on its way to the ledger. */
export interface Entry {
  readonly request: number;
  readonly amount: number;
}

/** One partition with one lane. */
export interface Redis {
  /** Of the mark; 0: there is none. */
  readonly epoch: number;
  /** The server is the one that the mark names. */
  readonly isNamed: boolean;
  /** Of the lane; null: it is not loaded. */
  readonly spent: number | null;
  readonly holds: readonly (Hold | null)[];
  /** Holds that were begun in an older epoch. */
  readonly olderHolds: readonly boolean[];
  readonly stream: readonly Entry[];
}

/**
 * `came` → `held` → `begun` in the first of Redis and journal → `asked`, the provider is at work → `settled` in Redis → `answered`, the last byte is out. Or it
 * ends `refused`, `withheld` or, with its gateway, `cut`; `stopped` where that ended in order before a provider was asked.
 */
export type Phase = 'came' | 'held' | 'begun' | 'asked' | 'settled' | 'answered' | 'refused' | 'withheld' | 'cut' | 'stopped';

export interface Request {
  readonly gateway: number;
  readonly phase: Phase;
  /** What the provider bills; 0 before it is asked. */
  readonly bill: number;
  /** Redis was asked to settle it, has done so, and its gateway has not heard it. */
  readonly isUnheard?: true;
}

export interface Gateway {
  readonly isAlive: boolean;
  /** It gives signs of life: its session in PostgreSQL has not lapsed. */
  readonly isLiving: boolean;
  /** PostgreSQL has its session: no epoch was opened without it. */
  readonly isKnown: boolean;
  /** The next epoch is opened without it: it was silent for so long that it is taken for dead, or nobody waits. */
  readonly givenUp: 'taken for dead' | 'left out' | null;
  /** An epoch was opened without it, and what it has from before that is not settled. */
  readonly isLate: boolean;
  /** The epoch that is open for it; 0: none. */
  readonly epoch: number;
  /** The epoch for which its journal is in the ledger. */
  readonly drained: number;
  readonly declared: number;
  readonly settled: number;
  /** In its memory: what it has read from the stream and not booked yet. */
  readonly reading: Entry | null;
  /** Holds in its memory; true: begun. Late: begun, and on no lane. */
  readonly own: readonly (boolean | 'late' | null)[];
  /** Its journal: calls in flight, and what was settled. */
  readonly inFlight: readonly boolean[];
  readonly copies: readonly (number | null)[];
  /** Its journal: holds that are over, and that Redis could not be told of. */
  readonly unfreed: readonly boolean[];
  /** Nothing can be appended to it. */
  readonly isDiskFull: boolean;
  /** Its quarantine: what lines said that cannot be read any more. */
  readonly setAside: readonly (number | null)[];
}

export interface State {
  readonly redis: Redis;
  /** What a replica, or an older dump, has. */
  readonly replica: Redis;
  readonly gateways: readonly Gateway[];
  readonly requests: readonly Request[];
  /** What each request is charged. */
  readonly ledger: readonly (number | null)[];
  /** What was not charged, since it was settled late and no longer fitted. */
  readonly waived: readonly number[];
  /** Of the lanes, in PostgreSQL. */
  readonly epoch: { readonly number: number; readonly state: 'recovering' | 'declaring' | 'settling' | 'open' };
  /** Noted in PostgreSQL: holds of calls that nobody was asked for, whose gateway has ended, and which Redis could not be told of. */
  readonly noted: readonly boolean[];
  /** Calls that no lane has since their gateway was taken for dead: the margin is their bounds. */
  readonly granted: readonly boolean[];
  /** How much harm may still be done. */
  readonly left: Harm;
}

export interface Harm {
  readonly losses: number;
  readonly crashes: number;
  /** Gateways that end in order, and are started again. */
  readonly stops: number;
  /** Of the session of a gateway that goes on: one that was stopped for a while, or cut off. */
  readonly lapses: number;
  /** Of those, for longer than others wait for it. */
  readonly absences: number;
  /** Leases that end although their process lives: a clock leaps, or the process is stopped. */
  readonly leaps: number;
  /** Of holds: Redis has them, and the gateway does not know. */
  readonly lostAnswers: number;
  /** Writes from which on the replica hears nothing. */
  readonly syncs: number;
  /** Lines of journals that cannot be read any more. */
  readonly damages: number;
  /** Disks of gateways that are full for a while. */
  readonly fullDisks: number;
}

const NO_HARM: Harm = {
  losses: 0,
  crashes: 0,
  stops: 0,
  lapses: 0,
  absences: 0,
  leaps: 0,
  lostAnswers: 0,
  syncs: 0,
  damages: 0,
  fullDisks: 0,
};

/** @param requestsOn the gateway of each request */
export function startOf(requestsOn: readonly number[], left: Partial<Harm>): State {
  const none = requestsOn.map(() => null);
  const redis: Redis = { epoch: 1, isNamed: true, spent: null, holds: none, olderHolds: requestsOn.map(() => false), stream: [] };
  return {
    redis,
    replica: redis,
    gateways: Array.from({ length: Math.max(...requestsOn) + 1 }, () => ({
      ...{ isAlive: true, isLiving: true, isKnown: true, givenUp: null, isLate: false, epoch: 1, drained: 1, declared: 1, settled: 1 },
      ...{
        reading: null,
        own: none,
        inFlight: requestsOn.map(() => false),
        copies: none,
        unfreed: requestsOn.map(() => false),
        isDiskFull: false,
        setAside: none,
      },
    })),
    requests: requestsOn.map((gateway) => ({ gateway, phase: 'came', bill: 0 })),
    ledger: none,
    waived: requestsOn.map(() => 0),
    epoch: { number: 1, state: 'open' },
    noted: requestsOn.map(() => false),
    granted: requestsOn.map(() => false),
    left: { ...NO_HARM, ...left },
  };
}

export const nameOf = (request: number): string => String.fromCharCode(97 + request);

export const replaced = <T>(list: readonly T[], index: number, item: T): readonly T[] => list.with(index, item);

export const inRedis = (state: State, change: Partial<Redis>): State => ({ ...state, redis: { ...state.redis, ...change } });

export const inGateway = (state: State, index: number, change: Partial<Gateway>): State => ({
  ...state,
  gateways: replaced(state.gateways, index, { ...gatewayOf(state, index), ...change }),
});

export const inRequest = (state: State, index: number, change: Partial<Request>): State => ({
  ...state,
  requests: replaced(state.requests, index, { ...requestOf(state, index), ...change }),
});

export const gatewayOf = ({ gateways }: State, index: number): Gateway => there(gateways[index]);
export const requestOf = ({ requests }: State, index: number): Request => there(requests[index]);

function there<T>(item: T | undefined): T {
  if (item === undefined) throw new Error('The model has no such number');
  return item;
}

export const harmed = (state: State, kind: keyof Harm): State => ({ ...state, left: { ...state.left, [kind]: state.left[kind] - 1 } });

/** Each request is booked once, whatever is delivered twice. */
export const booked = (state: State, entries: readonly Entry[]): State => ({
  ...state,
  ledger: entries.reduce(
    (ledger, { request, amount }) => (ledger[request] === null ? replaced(ledger, request, amount) : ledger),
    state.ledger,
  ),
});

export const totalOf = (amounts: readonly (number | null)[]): number => amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0);

/** `redis/scripts.ts` SETTLE_LATE: as much of it as fits, in the place of its hold should the lane have that; the rest is waived. */
export function settledLate(state: State, request: number, cost: number): { readonly state: State; readonly amount: number } {
  const holds = replaced(state.redis.holds, request, null);
  const spent = state.redis.spent ?? totalOf(state.ledger);
  const held = BOUND * holds.filter((hold) => hold !== null).length;
  const amount = Math.max(0, Math.min(cost, CAP - spent - held));
  const settled = inRedis(state, { holds, spent: spent + amount, stream: [...state.redis.stream, { request, amount }] });
  return { state: { ...settled, waived: replaced(state.waived, request, cost - amount) }, amount };
}

/** `redis/lanes.lua.ts`: what the mark of the partition says to a script of that epoch. */
export const accepts = ({ redis }: State, epoch: number): boolean => redis.epoch === epoch && redis.isNamed;
