import type { Log } from '../../kernel/log.ts';

/** What a run of a timer is given. */
export interface TimerContext {
  readonly log: Log;
  /** Aborted when the process is asked to stop, or has lost the timer to another one: a long run ends at its next safe point. */
  readonly signal: AbortSignal;
}

/**
 * Recurring work. Of all gateways on one database one runs it at a time; when that one dies, another takes over. So a run must bear being
 * begun again.
 */
export interface Timer {
  /** `slice-verb-object`, in metrics and logs. */
  readonly name: string;
  /** It runs at the latest this long after its last run ended. Absent: only when something is due. */
  readonly everyMs?: number;
  /**
   * It runs whenever this SQL condition holds; `present` in it is what the gateway's clock says. All conditions are asked in one statement
   * each second, on every gateway: each has to be answered by an index.
   */
  readonly due?: string;
  /** More than one: the runs lock what they take themselves, and each gateway may have so many at a time. */
  readonly atOnce?: number;
  /** Throwing asks for another run, later each time. */
  run(context: TimerContext): Promise<unknown>;
}

/** One run, for the metrics. `retried` failed and is tried again. */
export interface TimerRun {
  readonly timer: string;
  readonly outcome: 'done' | 'retried';
}

export interface RunningTimers {
  /** Begins no more runs, asks the running ones to end, and waits for them. */
  close(): Promise<void>;
}
