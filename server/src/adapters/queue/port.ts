/** What a job is told: ids. The rows hold the data, so a retry reads the present. */
export type JobPayload = Readonly<Record<string, string>>;

/** When a job recurs: every so many milliseconds, or by a cron pattern of five fields in UTC. */
export type Schedule = { readonly everyMs: number } | { readonly cron: string };

/** A failed attempt is repeated after `firstDelayMs`, then after twice that, and so on. */
export interface RetryPolicy {
  /** All attempts together, the first included. */
  readonly attempts: number;
  readonly firstDelayMs: number;
}

/** One attempt at one job. */
export interface Delivery {
  readonly id: string;
  /** As it was added, perhaps by another version of the server: parse it. */
  readonly payload: unknown;
  /** 1 for the first. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
}

/**
 * Jobs that outlive the process which added them. Delivery is at least once: a job whose worker was killed runs again elsewhere,
 * so a handler must bear being run twice.
 *
 * Adding is not part of a database transaction. An effect that must commit with its cause is a row written in that transaction,
 * which a job then finds.
 */
export interface JobQueue {
  /** @param options.once while a job added under the same text waits or runs, another one is not added */
  add(name: string, payload: JobPayload, retry: RetryPolicy, options?: { delayMs?: number; once?: string }): Promise<void>;
  /** Makes this the one schedule of the job, on all instances together; undefined ends it. Each tick has an empty payload. */
  schedule(name: string, schedule: Schedule | undefined, retry: RetryPolicy): Promise<void>;
  /** Runs the handler for every job of that name, `concurrency` at a time. What it throws is a failed attempt. Resolves when ready. */
  process(name: string, concurrency: number, handler: (delivery: Delivery) => Promise<void>): Promise<void>;
  /** Takes no new jobs, waits for the running ones, ends every connection. */
  close(): Promise<void>;
}
