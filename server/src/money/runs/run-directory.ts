import type { Clock } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import { laneId } from '../ledger/index.ts';
import { isTighter, type RunBounds, type RunOwner, type RunWish } from './run.ts';
import type { RunStore } from './run-store.ts';
import { RunningStep, type RunStep } from './step.ts';

/** Runs held in memory; one takes about half a kB. */
const MAX_KNOWN = 50_000;
/** Every run above costs a lane in every hold. */
const MOST_ANCESTORS = 8;

interface RunDirectoryDeps {
  readonly store: RunStore;
  readonly clock: Clock;
  readonly log: Log;
  /** A bound of a run refused a call, or stopped it. */
  readonly onExhausted?: (owner: RunOwner, runId: string, reason: 'calls' | 'deadline') => void;
}

/**
 * Lets calls into their runs, and stops them when a run ends. It remembers runs for as long as it hears of their changes: it starts disconnected
 * and reads every time, until `listening()`; what was missed meanwhile is read again for every run in progress.
 */
export class RunDirectory {
  readonly #deps: RunDirectoryDeps;
  /** By the name of the run's lane, as everything here. */
  readonly #known = new RecentMap<string, RunBounds>(MAX_KNOWN);
  readonly #reads = new Map<string, Promise<RunBounds | undefined>>();
  /** Running calls, by their own run and by every run above it. */
  readonly #running = new Map<string, Set<RunningStep>>();
  #isListening = false;

  constructor(deps: RunDirectoryDeps) {
    this.#deps = deps;
  }

  /**
   * Lets one call into its run, which begins with it where there is none of that name.
   *
   * @throws Problem `run_closed`, `run_exhausted`, `validation_failed` for a parent that there is not or that is another than at the
   *   run's beginning, `store_unavailable`
   */
  async enter(wish: RunWish): Promise<RunStep> {
    const { store, log, onExhausted = () => {} } = this.#deps;
    const step = new RunningStep(wish, {
      store,
      onExhausted: (runId, reason) => onExhausted(wish, runId, reason),
      onLeave: (left) => this.#forget(left),
      onUncountFailed: (error) => log.warn({ err: error }, 'a refused call stays counted in its run'),
    });
    try {
      await this.#let(step, wish);
      return step;
    } catch (thrown) {
      step.leave();
      throw thrown instanceof Problem ? thrown : unreachable(thrown);
    }
  }

  async #let(step: RunningStep, wish: RunWish): Promise<void> {
    const { store, clock } = this.#deps;
    // Before anything is read: changes from here on are heard for this step too.
    this.#watch(step, wish.runId);
    do {
      step.isOvertaken = false;
      const own = await this.#ownOf(wish);
      for (const ancestor of own.ancestors) this.#watch(step, ancestor);
      const above = await Promise.all(own.ancestors.map((runId) => this.#mustRead(wish, runId)));
      if (!step.isOvertaken) step.bind([own, ...above], clock.now());
    } while (step.isOvertaken);
    if (step.stopped) throw step.stopped;
    if (step.chain.some(({ maxCalls }) => maxCalls !== null)) {
      const { counted, runs } = await store.countCall(
        wish,
        step.chain.map(({ runId }) => runId),
      );
      step.counted(counted, runs);
    }
    if (step.stopped) throw step.stopped;
  }

  async #ownOf(wish: RunWish): Promise<RunBounds> {
    const { runId, parentRunId } = wish;
    const found = (await this.#read(wish, runId)) ?? (await this.#begin(wish));
    if (parentRunId !== null && parentRunId !== (found.ancestors[0] ?? null)) throw otherParent(runId, found);
    if (!isTighter(wish, found)) return found;
    await this.#deps.store.tighten(wish);
    this.#changed(keyOf(wish, runId));
    return this.#mustRead(wish, runId);
  }

  async #begin(wish: RunWish): Promise<RunBounds> {
    const { runId, parentRunId } = wish;
    const ancestors: string[] = [];
    if (parentRunId !== null) {
      if (parentRunId === runId) throw badParent('is the run itself: a run cannot be its own parent');
      const parent = await this.#read(wish, parentRunId);
      if (!parent) throw badParent(`names no run of this account and mode: make the first request of ${parentRunId} before those below it`);
      ancestors.push(parentRunId, ...parent.ancestors);
      if (ancestors.length > MOST_ANCESTORS) throw badParent(`has ${MOST_ANCESTORS} runs above it already, and no more can lie above one`);
    }
    await this.#deps.store.begin(wish, ancestors, this.#deps.clock.now());
    // A question before it began would be answered that there is none.
    this.#drop(keyOf(wish, runId));
    return this.#mustRead(wish, runId);
  }

  /** What the channel says. */
  heard(payload: string): void {
    const [what = '', key = ''] = split(payload);
    if (what === 'closed') this.#closed(key);
    else this.#changed(key);
  }

  /** For runs closed through this process: what runs is stopped when this returns. */
  closed(owner: RunOwner, runId: string): void {
    this.#closed(keyOf(owner, runId));
  }

  /** Changes are heard from now on. What was missed until now is read again for every run in progress. */
  listening(): void {
    this.#forgetAll();
    this.#isListening = true;
    for (const key of this.#running.keys()) void this.#rebind(key);
  }

  /** The listening connection is lost: until it is back, every run is read from the database. */
  disconnected(): void {
    this.#isListening = false;
    this.#forgetAll();
  }

  #closed(key: string): void {
    this.#drop(key);
    for (const step of [...(this.#running.get(key) ?? [])]) step.close(runIdOf(key));
  }

  #changed(key: string): void {
    this.#drop(key);
    void this.#rebind(key);
  }

  /** Binds what runs in a run by what that run is bound by now. */
  async #rebind(key: string): Promise<void> {
    for (const step of [...(this.#running.get(key) ?? [])]) {
      if (step.chain.length === 0) {
        step.isOvertaken = true;
        continue;
      }
      try {
        const chain = await Promise.all(step.chain.map(({ runId }) => this.#mustRead(step.owner, runId)));
        step.bind(chain, this.#deps.clock.now());
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'a run that changed could not be read: what runs in it goes on as it was bound');
      }
    }
  }

  async #mustRead(owner: RunOwner, runId: string): Promise<RunBounds> {
    const found = await this.#read(owner, runId);
    if (!found) throw new Error(`The run ${runId} is gone`);
    return found;
  }

  #read(owner: RunOwner, runId: string): RunBounds | Promise<RunBounds | undefined> {
    const key = keyOf(owner, runId);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const running = this.#reads.get(key);
    if (running !== undefined) return running;
    const read = this.#deps.store
      .read(owner, runId)
      .then((found) => {
        // Only what was read after the last change of the run that was heard.
        if (found && this.#isListening && this.#reads.get(key) === read) this.#known.set(key, found);
        return found;
      })
      .finally(() => {
        if (this.#reads.get(key) === read) this.#reads.delete(key);
      });
    this.#reads.set(key, read);
    return read;
  }

  #drop(key: string): void {
    this.#known.delete(key);
    // A read under way may have seen the row before the change: nobody else may join it, and it may not be remembered.
    this.#reads.delete(key);
  }

  #forgetAll(): void {
    this.#known.clear();
    this.#reads.clear();
  }

  #watch(step: RunningStep, runId: string): void {
    const key = keyOf(step.owner, runId);
    const steps = this.#running.get(key);
    if (steps) steps.add(step);
    else this.#running.set(key, new Set([step]));
    step.watched.add(key);
  }

  #forget(step: RunningStep): void {
    for (const key of step.watched) {
      const steps = this.#running.get(key);
      steps?.delete(step);
      if (steps?.size === 0) this.#running.delete(key);
    }
  }
}

const keyOf = ({ accountId, livemode }: RunOwner, runId: string): string => laneId.run(accountId, livemode, runId);
const runIdOf = (key: string): string => key.split(':').slice(3).join(':');
const split = (payload: string): [string, string] => {
  const at = payload.indexOf(' ');
  return [payload.slice(0, at), payload.slice(at + 1)];
};

const badParent = (msg: string): Problem => invalidInput([{ loc: ['header', 'x-agent-parent-run-id'], msg, type: 'invalid_parent' }]);

const otherParent = (runId: string, { ancestors: [parent] }: RunBounds): Problem =>
  badParent(
    parent === undefined
      ? `comes too late: the run ${runId} was begun without a parent, and stays without one`
      : `is another than at the beginning of the run ${runId}, whose parent is ${parent}`,
  );

const unreachable = (cause: unknown): Problem =>
  new Problem(
    'store_unavailable',
    'The agent run cannot be read at the moment, so nothing may be spent in it. Repeat the request in a few seconds.',
    {
      retryAfterSeconds: 2,
      cause,
    },
  );
