/** One way in which a state may go on. */
export interface Step<State> {
  /** Names it in a trace. */
  readonly what: string;
  readonly next: State;
}

/** What somebody may do, in any state in which it can be done. */
export interface Rule<State> {
  /** `work` is done sooner or later, `harm` may be done or not. */
  readonly kind: 'work' | 'harm';
  steps(state: State): Iterable<Step<State>>;
}

export interface Model<State> {
  readonly start: State;
  readonly rules: readonly Rule<State>[];
  /** What is wrong with a state that may never be reached. */
  fault(state: State): string | undefined;
  /** What is wrong with a state in which no work is left. */
  faultAtRest(state: State): string | undefined;
}

export interface Verdict {
  /** Different states that were looked at. */
  readonly states: number;
  /** A shortest way to a fault; absent where no state has one. */
  readonly counterexample?: { readonly fault: string; readonly trace: readonly string[] };
}

interface Visited<State> {
  readonly state: State;
  readonly from: Visited<State> | undefined;
  readonly what: string;
}

/** Looks at every state that can be reached, those with fewer steps first. @throws when there are more of them than that */
export function explore<State>({ start, rules, fault, faultAtRest }: Model<State>, mostStates: number): Verdict {
  const seen = new Set([JSON.stringify(start)]);
  const queue: Visited<State>[] = [{ state: start, from: undefined, what: '' }];
  for (const visited of queue) {
    const { state } = visited;
    let isAtRest = true;
    for (const { kind, steps } of rules) {
      for (const { what, next } of steps(state)) {
        const key = JSON.stringify(next);
        if (kind === 'work' && next !== state) isAtRest = false;
        if (seen.has(key)) continue;
        seen.add(key);
        queue.push({ state: next, from: visited, what });
        if (queue.length > mostStates) throw new Error(`There are more than ${mostStates} states`);
      }
    }
    const found = fault(state) ?? (isAtRest ? faultAtRest(state) : undefined);
    if (found !== undefined) return { states: seen.size, counterexample: { fault: found, trace: traceOf(visited) } };
  }
  return { states: seen.size };
}

function traceOf<State>(last: Visited<State>): string[] {
  const trace: string[] = [];
  for (let at: Visited<State> | undefined = last; at?.from; at = at.from) trace.unshift(at.what);
  return trace;
}
