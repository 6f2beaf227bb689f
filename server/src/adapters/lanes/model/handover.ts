import type { Model, Rule } from './checker.ts';

/**
 * A call whose provider is late is handed over to a second one, with a hold for what the first may still bill (`inference/calls/left-behind.ts`). What
 * a process has begun is settled under an attempt, and the attempt of the call rises with the hand-over: in Redis and in the journal, one after the
 * other. Each provider bills 1, which is the bound.
 */
export interface Handover {
  /** `left first`: what is left behind is begun before the attempt of the call rises, so that both have the same one for a moment. */
  readonly order: 'call first' | 'left first';
  /** What the ledger compares to know a settlement again (`ledger/unwritten.ts`). */
  readonly known: 'by attempt' | 'by attempt and receipt';
}

type Receipt = 'call' | 'left';
interface Entry {
  readonly receipt: Receipt;
  readonly attempt: number;
}
/** The attempts under which holds are begun; 0: taken, and not begun. */
type Begun = Readonly<Partial<Record<Receipt, number>>>;

interface State {
  readonly isAlive: boolean;
  /** How many steps of the hand-over are done. */
  readonly done: number;
  readonly redis: { readonly holds: Begun; readonly spent: number; readonly stream: readonly Entry[] };
  readonly journal: Begun;
  readonly ledger: readonly Entry[];
  readonly bills: number;
  readonly left: { readonly crashes: number; readonly losses: number };
}

const RECEIPTS: readonly Receipt[] = ['call', 'left'];
const START: State = {
  ...{ isAlive: true, done: 0, journal: { call: 1 }, ledger: [], bills: 1, left: { crashes: 1, losses: 1 } },
  redis: { holds: { call: 1 }, spent: 0, stream: [] },
};

const without = (begun: Begun, receipt: Receipt): Begun => Object.fromEntries(Object.entries(begun).filter(([name]) => name !== receipt));
const inRedis = (state: State, change: Partial<State['redis']>): State => ({ ...state, redis: { ...state.redis, ...change } });
const begunInRedis = (receipt: Receipt, attempt: number) => (state: State) =>
  inRedis(state, { holds: { ...state.redis.holds, [receipt]: attempt } });
const begunInJournal = (receipt: Receipt, attempt: number) => (state: State) => ({
  ...state,
  journal: { ...state.journal, [receipt]: attempt },
});

const RISES = [begunInRedis('call', 2), begunInJournal('call', 2)];
const IS_LEFT = [begunInRedis('left', 1), begunInJournal('left', 1)];

const stepsOf = ({ order }: Handover): readonly ((state: State) => State)[] => [
  begunInRedis('left', 0),
  ...(order === 'call first' ? [...RISES, ...IS_LEFT] : [...IS_LEFT, ...RISES]),
  // The second provider is asked.
  (state) => ({ ...state, bills: state.bills + 1 }),
];

/** Redis knows what the journal does not: a gateway that lives writes that before it declares its holds (`app/lane-recovery.ts` idle). */
const isBeginning = ({ redis: { holds }, journal }: State): boolean =>
  RECEIPTS.some((receipt) => (holds[receipt] ?? 0) > (journal[receipt] ?? 0));

const handOver = (how: Handover): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    const steps = stepsOf(how);
    const step = state.isAlive ? steps[state.done] : undefined;
    if (!step) return;
    // What was held and not begun is given up when Redis has lost it, and begun no more: the second provider is not asked.
    if (state.done > 0 && !('left' in state.redis.holds))
      yield { what: 'the hand-over is given up', next: { ...state, done: steps.length } };
    else yield { what: `step ${state.done + 1} of the hand-over`, next: { ...step(state), done: state.done + 1 } };
  },
});

/** By its process, by whoever sweeps, or by the next process: under the attempt that Redis knows. */
function settled(state: State, receipt: Receipt): State {
  const { holds, spent, stream } = state.redis;
  const attempt = holds[receipt] ?? 0;
  const rest = { holds: without(holds, receipt) };
  return inRedis(state, attempt === 0 ? rest : { ...rest, spent: spent + 1, stream: [...stream, { receipt, attempt }] });
}

const settle = (how: Handover): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    if (!state.isAlive || state.done < stepsOf(how).length) return;
    for (const receipt of RECEIPTS)
      if (receipt in state.redis.holds)
        yield { what: `the ${receipt} is settled`, next: { ...settled(state, receipt), journal: without(state.journal, receipt) } };
  },
});

const endDoubt: Rule<State> = {
  kind: 'work',
  *steps(state) {
    if (state.isAlive) return;
    for (const receipt of RECEIPTS)
      if (receipt in state.redis.holds) yield { what: `the doubt of the ${receipt} ends`, next: settled(state, receipt) };
  },
};

const isKnown = ({ ledger }: Pick<State, 'ledger'>, { known }: Handover, { receipt, attempt }: Entry): boolean =>
  ledger.some((entry) => entry.attempt === attempt || (known === 'by attempt and receipt' && entry.receipt === receipt));

function booked(state: State, how: Handover, entries: readonly Entry[]): State {
  let { ledger } = state;
  for (const entry of entries) if (!isKnown({ ledger }, how, entry)) ledger = [...ledger, entry];
  return { ...state, ledger };
}

const drained = (state: State, how: Handover): State => inRedis(booked(state, how, state.redis.stream), { stream: [] });

const book = (how: Handover): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    if (state.redis.stream.length > 0) yield { what: 'the stream is booked', next: drained(state, how) };
  },
});

/** The next process on its data directory (`app/lane-recovery.ts` endLeft): by Redis where that has the hold, and late where no one knows the call. */
const endLeft = (how: Handover): Rule<State> => ({
  kind: 'work',
  *steps(state) {
    if (state.isAlive) return;
    for (const [name, attempt] of Object.entries(state.journal)) {
      const receipt: Receipt = name === 'call' ? 'call' : 'left';
      const what = `the next process ends the ${receipt}`;
      const ended = { ...state, journal: without(state.journal, receipt) };
      if ((state.redis.holds[receipt] ?? 0) > 0) yield { what, next: settled(ended, receipt) };
      else {
        const next = drained(ended, how);
        const late = inRedis(booked(next, how, [{ receipt, attempt }]), { spent: next.redis.spent + 1 });
        yield { what, next: isKnown(next, how, { receipt, attempt }) ? next : late };
      }
    }
  },
});

const harm = (how: Handover): Rule<State> => ({
  kind: 'harm',
  *steps(state) {
    const { left, isAlive } = state;
    if (isAlive && left.crashes > 0) yield { what: 'the gateway dies', next: { ...state, isAlive: false, left: { ...left, crashes: 0 } } };
    if (left.losses === 0 || (isAlive && isBeginning(state))) return;
    // What others have settled is in their journals, and the lanes are loaded from the ledger.
    const known = drained({ ...state, left: { ...left, losses: 0 } }, how);
    const holds = isAlive ? state.journal : {};
    yield { what: 'Redis is empty', next: inRedis(known, { holds, spent: known.ledger.length }) };
  },
});

export const handoverModel = (how: Handover): Model<State> => ({
  start: START,
  rules: [handOver(how), settle(how), endDoubt, book(how), endLeft(how), harm(how)],
  fault: ({ ledger }) =>
    RECEIPTS.some((receipt) => ledger.filter((entry) => entry.receipt === receipt).length > 1) ? 'a hold is charged twice' : undefined,
  faultAtRest: ({ ledger, bills, redis: { spent } }) => {
    if (ledger.length < bills) return `the providers bill ${bills}, and ${ledger.length} is charged`;
    return spent === ledger.length ? undefined : `the lane has ${spent}, and the ledger ${ledger.length}`;
  },
});
