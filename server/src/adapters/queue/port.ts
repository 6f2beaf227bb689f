import type { z } from 'zod';
import type { Log } from '../../kernel/log.ts';

/** What a job is told: ids. The rows hold the data, so a retry reads the present. */
export type JobPayload = Readonly<Record<string, string>>;

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
  /** Runs the handler for every job of that name, `concurrency` at a time. What it throws is a failed attempt. Resolves when ready. */
  process(name: string, concurrency: number, handler: (delivery: Delivery) => Promise<void>): Promise<void>;
  /** Jobs of that name that wait for a run, those among them that failed and are tried again. @throws when the store cannot be asked */
  waiting(name: string): Promise<number>;
  /** Takes no new jobs, waits for the running ones, ends every connection. */
  close(): Promise<void>;
}

export interface JobContext {
  /** Says which job and which attempt is talking. */
  readonly log: Log;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  /** Aborted when the process is asked to stop: a long job ends at its next safe point, and throws if its work is not done. */
  readonly signal: AbortSignal;
}

/** One kind of background work, whole: its name, what it is told and what it does. */
export interface Job<P extends JobPayload = JobPayload> {
  /** `slice-verb-object`; it names the queue, so jobs added before a rename are never run. */
  readonly name: string;
  /** Checked on the way in and out. New fields are optional until jobs of the older version are gone. */
  readonly payload: z.ZodType<P>;
  readonly retry: RetryPolicy;
  /** Most runs at a time in this process. */
  readonly concurrency: number;
  /** Runs at least once per job, so it must bear being run twice. Throwing asks for a retry. */
  run(payload: P, context: JobContext): Promise<void>;
}

type Defaulted = 'retry' | 'concurrency';

/** Fills in what most jobs have in common: five attempts over about half a minute, one run at a time. */
export function defineJob<P extends JobPayload>(job: Omit<Job<P>, Defaulted> & Partial<Pick<Job<P>, Defaulted>>): Job<P> {
  return { retry: { attempts: 5, firstDelayMs: 2_000 }, concurrency: 1, ...job };
}

/** Adds one run of a job, from any process. Throws when the payload is not what the job takes. */
export async function enqueue<P extends JobPayload>(
  queue: JobQueue,
  job: Job<P>,
  payload: P,
  options: { delayMs?: number; once?: string } = {},
): Promise<void> {
  await queue.add(job.name, job.payload.parse(payload), job.retry, options);
}
