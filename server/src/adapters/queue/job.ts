import type { z } from 'zod';
import type { Log } from '../../kernel/log.ts';
import type { JobPayload, RetryPolicy, Schedule } from './port.ts';

export interface JobContext {
  /** Says which job and which attempt is talking. */
  readonly log: Log;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  /** Aborted when the process is asked to stop: a long job ends at its next safe point, and throws if its work is not done. */
  readonly signal: AbortSignal;
}

/** One kind of background work, whole: its name, what it is told, when it recurs and what it does. */
export interface Job<P extends JobPayload = JobPayload> {
  /** `slice-verb-object`; it names the queue, so jobs added before a rename are never run. */
  readonly name: string;
  /** Checked on the way in and out. New fields are optional until jobs of the older version are gone. */
  readonly payload: z.ZodType<P>;
  /** A recurring job has an empty payload. */
  readonly schedule?: Schedule;
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
