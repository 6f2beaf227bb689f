import { rfc3339 } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstDeadline, type RunBounds, type RunOwner } from './run.ts';
import type { RunCalls, RunStore } from './run-store.ts';

/** Timers reach no further; no call runs for as long. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One call of a run, from its admission to the run until its answer has ended. */
export interface RunStep {
  /** The runs above its own, the nearest first. */
  readonly ancestors: readonly string[];
  /** Aborted when the run is closed or its deadline passes. */
  readonly signal: AbortSignal;
  /** Why it was stopped, where it was. */
  readonly stopped: Problem | undefined;
  /** The calls and the time that the run has left, as response headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The call is admitted: it counts, also if it fails. */
  admitted(): void;
  /** To be called once the answer has ended, or the call was refused. */
  leave(): void;
}

interface RunningStepDeps {
  /** A bound of a run refused this call, or stopped it. */
  readonly onExhausted: (runId: string, reason: 'calls' | 'deadline') => void;
  readonly store: Pick<RunStore, 'uncountCall'>;
  readonly onLeave: (step: RunningStep) => void;
  readonly onUncountFailed: (error: unknown) => void;
}

export class RunningStep implements RunStep {
  readonly owner: RunOwner;
  /** Under which names it is watched. */
  readonly watched = new Set<string>();
  /** One of its runs changed before it was bound: it has to read them again. */
  isOvertaken = false;
  readonly #deps: RunningStepDeps;
  readonly #abort = new AbortController();
  /** Its own run first, then the runs above. */
  #chain: readonly RunBounds[] = [];
  #calls: readonly RunCalls[] = [];
  #stopped: Problem | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isAdmitted = false;
  #hasLeft = false;

  constructor(owner: RunOwner, deps: RunningStepDeps) {
    this.owner = owner;
    this.#deps = deps;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get stopped(): Problem | undefined {
    return this.#stopped;
  }

  get ancestors(): readonly string[] {
    return this.#chain[0]?.ancestors ?? [];
  }

  get chain(): readonly RunBounds[] {
    return this.#chain;
  }

  get headers(): Record<string, string> {
    const own = this.#chain[0];
    const deadline = firstDeadline(this.#chain);
    const bounded = this.#calls.flatMap(({ runId, calls, maxCalls }) => (maxCalls === null ? [] : [{ runId, left: maxCalls - calls }]));
    return {
      ...(own?.maxCalls != null && { 'x-agent-calls-limit': String(own.maxCalls) }),
      ...(bounded.length > 0 && { 'x-agent-calls-remaining': String(Math.max(0, Math.min(...bounded.map(({ left }) => left)))) }),
      ...(deadline && { 'x-agent-deadline': rfc3339(deadline.at) }),
    };
  }

  /** Takes what its runs are bound by, at first and whenever that has changed. */
  bind(chain: readonly RunBounds[], now: number): void {
    if (this.#hasLeft) return;
    this.#chain = chain;
    clearTimeout(this.#timer);
    const closed = chain.find(({ closedAt }) => closedAt !== null);
    if (closed) {
      this.close(closed.runId);
      return;
    }
    const deadline = firstDeadline(chain);
    if (!deadline) return;
    const leftMs = deadline.at - now;
    if (leftMs <= 0) this.#passed(deadline);
    else if (leftMs <= LONGEST_TIMER_MS) this.#timer = setTimeout(() => this.#passed(deadline), leftMs).unref();
  }

  /** @param runId the run that was closed: its own, or one above it */
  close(runId: string): void {
    this.#stop(
      new Problem('run_closed', `The agent run ${runId} is closed: begin a new run. What was generated of this answer is charged.`, {
        headers: this.headers,
      }),
    );
  }

  /** @throws Problem `run_exhausted` when a run of the chain has made all its calls */
  counted(counted: boolean, calls: readonly RunCalls[]): void {
    this.#calls = calls;
    if (counted) return;
    this.#isAdmitted = true;
    const full = calls.find((run) => run.maxCalls !== null && run.calls >= run.maxCalls);
    if (full) this.#deps.onExhausted(full.runId, 'calls');
    throw new Problem(
      'run_exhausted',
      `The agent run ${full?.runId} has made the ${full?.maxCalls} calls that X-Agent-Max-Calls allows: begin a new run.`,
      { headers: this.headers },
    );
  }

  admitted(): void {
    this.#isAdmitted = true;
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    clearTimeout(this.#timer);
    this.#deps.onLeave(this);
    if (this.#isAdmitted || this.#calls.length === 0) return;
    const chain = this.#chain.map(({ runId }) => runId);
    // One call too many stays counted where this fails: the bound holds all the same.
    this.#deps.store.uncountCall(this.owner, chain).catch(this.#deps.onUncountFailed);
  }

  #passed(deadline: { readonly runId: string; readonly at: number }): void {
    this.#deps.onExhausted(deadline.runId, 'deadline');
    this.#stop(deadlinePassed(deadline));
  }

  #stop(why: Problem): void {
    if (this.#stopped || this.#hasLeft) return;
    this.#stopped = why;
    this.#abort.abort();
  }
}

const deadlinePassed = ({ runId, at }: { runId: string; at: number }): Problem =>
  new Problem('run_exhausted', `The deadline of the agent run ${runId} was ${rfc3339(at)}: begin a new run.`, {
    headers: { 'x-agent-deadline': rfc3339(at) },
  });
