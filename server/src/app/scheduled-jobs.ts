import type { Pool } from 'pg';
import * as z from 'zod';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { defineJob, type Job } from '../adapters/queue/port.ts';
import type { BatchWork } from '../batches/index.ts';
import type { Events } from '../events/index.ts';
import { sweepExpired, sweepOrphans } from '../files/index.ts';
import type { Identity, Outbox } from '../identity/index.ts';
import type { Invites } from '../invites/index.ts';
import { type Clock, monthEnd, monthOf } from '../kernel/clock.ts';
import { ensurePartitions } from '../ledger/index.ts';
import type { Plans } from '../plans/index.ts';
import { appendAll, auditLog, cosignLog, type KeptState, type KnownWitness, type OwnKeys, stopsOf } from '../receipts/index.ts';
import type { Metrics } from './metrics.ts';

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** How long a balance may be below its threshold unnoticed. */
const TOPUP_MS = 15_000;
const SIX_HOURS_MS = 6 * HOUR_MS;
/** What somebody waiting for a mail does not notice. */
const OUTBOX_MS = 2_000;
const BATCHES_MS = 1_000;
/** How long whoever activates an invitation waits for what it gives. */
const INVITES_MS = 1_000;
/** How long a receipt is without its place in the log. */
const LOG_MS = 1_000;
/** How old the state is, at most, that witnesses have seen. */
const COSIGN_MS = 5_000;
/** A batch may wait for its provider for hours: others go on beside it. */
const BATCHES_AT_ONCE = 8;

interface ScheduledJobsDeps {
  readonly pool: Pool;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly identity: Identity;
  readonly outbox: Outbox;
  readonly plans: Plans;
  readonly events: Pick<Events, 'linkUsers' | 'releaseUnpaid'>;
  readonly invites: Pick<Invites, 'goOn'>;
  readonly batchWork: Pick<BatchWork, 'goOn'>;
  readonly ownKeys: OwnKeys;
  readonly keptLog: KeptState;
  readonly witnesses: readonly KnownWitness[];
  readonly metrics: Pick<Metrics, 'logFaults'>;
}

/** The recurring work of the service. */
export const scheduledJobs = ({
  pool,
  blobs,
  clock,
  identity,
  outbox,
  plans,
  events,
  invites,
  batchWork,
  ownKeys,
  keptLog,
  witnesses,
  metrics,
}: ScheduledJobsDeps): Job[] => [
  defineJob({
    name: 'identity-send-mails',
    payload: z.object({}),
    schedule: { everyMs: OUTBOX_MS },
    run: async (_payload, { signal }) => {
      await identity.answerMailRequests(signal);
      await outbox.sendDue(signal);
    },
  }),
  defineJob({
    name: 'events-link-users',
    payload: z.object({}),
    schedule: { everyMs: OUTBOX_MS },
    run: (_payload, { signal }) => events.linkUsers(signal),
  }),
  defineJob({
    name: 'events-release-unpaid',
    payload: z.object({}),
    schedule: { everyMs: MINUTE_MS },
    run: (_payload, { signal }) => events.releaseUnpaid(signal),
  }),
  defineJob({
    name: 'invites-go-on',
    payload: z.object({}),
    schedule: { everyMs: INVITES_MS },
    // The next run takes up whatever this one has left.
    retry: { attempts: 1, firstDelayMs: INVITES_MS },
    run: (_payload, { signal }) => invites.goOn(signal),
  }),
  defineJob({
    name: 'batches-go-on',
    payload: z.object({}),
    schedule: { everyMs: BATCHES_MS },
    // The next run takes up whatever this one has left.
    retry: { attempts: 1, firstDelayMs: BATCHES_MS },
    concurrency: BATCHES_AT_ONCE,
    run: (_payload, { signal }) => batchWork.goOn(signal),
  }),
  defineJob({
    name: 'identity-sweep',
    payload: z.object({}),
    schedule: { everyMs: HOUR_MS },
    run: async () => {
      await identity.sweep();
      await outbox.sweep();
    },
  }),
  defineJob({
    name: 'ledger-make-partitions',
    payload: z.object({}),
    schedule: { everyMs: SIX_HOURS_MS },
    // The writer makes a missing partition itself; ahead of time it takes no lock from anybody.
    run: () => ensurePartitions(pool, [clock.now(), monthEnd(monthOf(clock.now())).getTime()]),
  }),
  defineJob({
    name: 'receipts-append-to-log',
    payload: z.object({}),
    schedule: { everyMs: LOG_MS },
    // The next run takes up whatever this one has left.
    retry: { attempts: 1, firstDelayMs: LOG_MS },
    run: async (_payload, { signal, log }) => {
      try {
        await appendAll({ pool, keys: ownKeys.checkpoint, kept: keptLog, clock, log }, signal);
      } finally {
        metrics.logFaults('stopped', (await stopsOf(pool)).length);
      }
    },
  }),
  ...(witnesses.length === 0 ? [] : [cosignJob({ pool, witnesses, ownKeys, clock, metrics })]),
  defineJob({
    name: 'receipts-audit-log',
    payload: z.object({}),
    schedule: { everyMs: MINUTE_MS },
    run: (_payload, { signal, log }) =>
      auditLog({ pool, own: ownKeys, clock, log, onFound: (count) => metrics.logFaults('audit', count) }, signal),
  }),
  defineJob({
    name: 'files-sweep',
    payload: z.object({}),
    schedule: { everyMs: TEN_MINUTES_MS },
    run: (_payload, { signal }) => sweepExpired({ pool, blobs, clock }, signal),
  }),
  defineJob({
    name: 'files-sweep-orphans',
    payload: z.object({}),
    schedule: { everyMs: SIX_HOURS_MS },
    run: async (_payload, { signal, log }) => {
      const swept = await sweepOrphans({ pool, blobs, clock }, signal);
      if (swept > 0) log.warn({ swept }, 'blobs without a file were deleted');
    },
  }),
  defineJob({
    name: 'plans-apply-downgrades',
    payload: z.object({}),
    schedule: { everyMs: MINUTE_MS },
    run: async (_payload, { signal }) => {
      await plans.downgrades.apply(1_000, signal);
      await plans.downgrades.endGrace(signal);
      await plans.downgrades.endClosed(signal);
      await plans.gifts.endTrials(signal);
    },
  }),
  defineJob({
    name: 'plans-end-refunds',
    payload: z.object({}),
    schedule: { everyMs: MINUTE_MS },
    run: (_payload, { signal }) => plans.refunds.goOn(signal),
  }),
  defineJob({
    name: 'plans-top-up',
    payload: z.object({}),
    schedule: { everyMs: TOPUP_MS },
    run: async (_payload, { signal }) => {
      await plans.autoTopup.run(signal);
      await plans.alerts.run();
    },
  }),
  defineJob({
    name: 'plans-invoice-usage',
    payload: z.object({}),
    schedule: { everyMs: TEN_MINUTES_MS },
    run: async (_payload, { signal }) => {
      await plans.usageInvoices.issue();
      await plans.billing.run(signal);
    },
  }),
  defineJob({
    name: 'plans-reconcile-payments',
    payload: z.object({}),
    schedule: { everyMs: HOUR_MS },
    run: async (_payload, { log }) => {
      const { missed, differences } = await plans.reconcile();
      if (missed > 0) log.warn({ missed }, 'events of the payment provider had not arrived by webhook');
      for (const difference of differences) log.fatal(difference, 'the books disagree with the payments');
    },
  }),
];

type CosignJobDeps = Pick<ScheduledJobsDeps, 'pool' | 'witnesses' | 'ownKeys' | 'clock' | 'metrics'>;

const cosignJob = ({ pool, witnesses, ownKeys, clock, metrics }: CosignJobDeps): Job =>
  defineJob({
    name: 'receipts-cosign-log',
    payload: z.object({}),
    schedule: { everyMs: COSIGN_MS },
    // The next run asks again.
    retry: { attempts: 1, firstDelayMs: COSIGN_MS },
    run: (_payload, { signal, log }) =>
      cosignLog({ pool, witnesses, own: ownKeys, clock, log, onRefusals: (count) => metrics.logFaults('witness', count) }, signal),
  });
