import type { Job, JobQueue } from '../adapters/queue/port.ts';
import type { RunningTimers, Timer } from '../adapters/timers/port.ts';
import { startTimers } from '../adapters/timers/postgres-timers.ts';
import { tlogWitness } from '../adapters/witness/tlog-witness.ts';
import { anchoringTimers } from './anchoring.ts';
import type { Commerce } from './commerce.ts';
import type { Core } from './core.ts';
import type { Foundation } from './foundation.ts';
import { type RunningJobs, startJobs } from './jobs.ts';
import { recurringWork } from './recurring-work.ts';
import type { Surroundings } from './surroundings.ts';

/** What is done beside requests: jobs of the queue, and timers. */
export class Background {
  readonly #foundation: Foundation;
  readonly #queue: JobQueue;
  readonly #work: { readonly jobs: readonly Job[]; readonly timers: readonly Timer[] };
  #jobs: RunningJobs | undefined;
  #timers: RunningTimers | undefined;

  constructor(foundation: Foundation, queue: JobQueue, work: { readonly jobs: readonly Job[]; readonly timers: readonly Timer[] }) {
    this.#foundation = foundation;
    this.#queue = queue;
    this.#work = work;
    foundation.closing.add('jobs', async () => (this.#jobs ?? queue).close());
    foundation.closing.add('timers', async () => this.#timers?.close());
  }

  async start(): Promise<void> {
    const { pool, clock, log, metrics } = this.#foundation;
    const { jobs, timers } = this.#work;
    this.#jobs = await startJobs({ jobs, queue: this.#queue, log, onRun: metrics.jobRan, watch: metrics.watchJobs });
    this.#timers = startTimers({ timers, pool, clock, log, onRun: ({ timer, outcome }) => metrics.jobRan({ job: timer, outcome }) });
  }
}

/** The recurring work of all parts. */
export async function timersOf({ foundation, ownLog, accounts }: Core, commerce: Commerce, around: Surroundings): Promise<Timer[]> {
  const { config, pool, rawBlobs, archive, clock, metrics } = foundation;
  const { ownKeys, kept: keptLog } = ownLog;
  const { identity, outbox } = accounts;
  const { live, plans, events } = commerce;
  const { blobs, invites, kept, marketing, webhooks } = around;
  return [
    ...kept.timers,
    ...(await anchoringTimers(foundation, ownKeys.checkpoint)),
    ...marketing.timers,
    ...webhooks.timers,
    ...recurringWork({
      ...{ pool, blobs, rawBlobs, archive, usageDetailMonths: config.usageDetailMonths, auditLogMonths: config.auditLogMonths },
      ...{ clock, identity, live, plans, events, invites, outbox, ownKeys, keptLog, metrics },
      batchWork: kept.batchWork,
      witnesses: config.logWitnesses.map(({ url, key }) => ({ key, witness: tlogWitness(url) })),
    }),
  ];
}
