import type { Delivery, Job, JobQueue } from '../adapters/queue/port.ts';
import type { Log } from '../kernel/log.ts';

/** One attempt at a job, for the metrics. `retried` failed and will be tried again, `failed` will not. */
export interface JobRun {
  readonly job: string;
  readonly outcome: 'done' | 'retried' | 'failed';
  readonly durationMs: number;
}

interface JobsOptions {
  jobs: readonly Job[];
  queue: JobQueue;
  log: Log;
  onRun?(run: JobRun): void;
  /** Given what says how many jobs of each name wait. */
  watch?(waiting: () => Promise<(readonly [job: string, count: number])[]>): void;
}

export interface RunningJobs {
  /** Asks running jobs to end, waits for them, closes the queue. */
  close(): Promise<void>;
}

/** Takes up work: processes every job of the list. Only worker processes call it. */
export async function startJobs({ jobs, queue, log, onRun, watch }: JobsOptions): Promise<RunningJobs> {
  const closing = new AbortController();
  watch?.(() => Promise.all(jobs.map(async ({ name }) => [name, await queue.waiting(name)] as const)));
  for (const job of jobs) {
    await queue.process(job.name, job.concurrency, async (delivery) => {
      const started = performance.now();
      const finish = (outcome: JobRun['outcome']) => onRun?.({ job: job.name, outcome, durationMs: performance.now() - started });
      try {
        await runOnce(job, delivery, log, closing.signal);
        finish('done');
      } catch (failure) {
        report(log, job, delivery, failure);
        finish(delivery.isLastAttempt ? 'failed' : 'retried');
        throw failure;
      }
    });
  }
  return {
    close: async () => {
      closing.abort();
      await queue.close();
    },
  };
}

async function runOnce(job: Job, { id, payload, attempt, isLastAttempt }: Delivery, log: Log, signal: AbortSignal): Promise<void> {
  await job.run(job.payload.parse(payload), { log: log.child({ job: job.name, id, attempt }), attempt, isLastAttempt, signal });
}

function report(log: Log, job: Job, { id, attempt, isLastAttempt }: Delivery, failure: unknown): void {
  const facts = { job: job.name, id, attempt, err: failure };
  if (isLastAttempt) log.error(facts, 'a job failed permanently');
  else log.warn(facts, 'a job failed and will be tried again');
}
