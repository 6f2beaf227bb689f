import type { Pool, PoolClient } from 'pg';
import { type Identity, LOGIN_FAILURES_DUE, MAIL_REQUESTS_DUE } from '../access/identity/index.ts';
import type { BlobStore } from '../adapters/blobs/port.ts';
import type { Timer } from '../adapters/timers/port.ts';
import { type Archive, archiveOldMonths, makePartitionsAhead, oldestKept } from '../archive/index.ts';
import { forgetEntries, makeAuditMonths } from '../audit/index.ts';
import { type Events, UNLINKED_USERS_DUE } from '../community/events/index.ts';
import type { Invites } from '../community/invites/index.ts';
import { BATCHES_DUE, type BatchWork } from '../inference/batches/index.ts';
import { sweepExpired, sweepOrphans } from '../inference/files/index.ts';
import { atMostEvery } from '../kernel/at-most-every.ts';
import { type Clock, type Month, monthStart } from '../kernel/clock.ts';
import { MAILS_DUE, type Outbox } from '../mail/index.ts';
import { DAYS_TO_SUM, forgetWindows, mergeSegments, SEGMENTS_TO_MERGE, sumDays } from '../money/ledger/index.ts';
import type { AccountPlans, Plans } from '../money/plans/index.ts';
import {
  AGAIN_EVERY_MS,
  appendAll,
  auditLog,
  cosignLog,
  DeclarationChain,
  ENTRIES_UNAUDITED,
  type KeptState,
  type KnownWitness,
  type OwnKeys,
  RECEIPTS_UNLOGGED,
  stopsOf,
  thinCheckpoints,
  undeclaredKeys,
  uninvoicedAccounts,
  unsealedReceipts,
} from '../receipts/index.ts';
import type { Metrics } from './metrics.ts';

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** How long a balance may be below its threshold unnoticed. */
const TOPUP_MS = 15_000;
const SIX_HOURS_MS = 6 * HOUR_MS;
/** Longer than any blob takes to be stored. */
const UNFINISHED_MS = 24 * HOUR_MS;
/** How old the state is, at most, that witnesses have seen. */
const COSIGN_MS = 5_000;
/** A batch may wait for its provider for hours: others go on beside it. */
const BATCHES_AT_ONCE = 8;

interface RecurringWorkDeps {
  readonly pool: Pool;
  readonly blobs: BlobStore;
  /** Under the sealed ones: for the archive. */
  readonly rawBlobs: BlobStore;
  readonly archive: Archive;
  /** Undefined: requests are never archived. */
  readonly usageDetailMonths: number | undefined;
  /** Undefined: the audit log is never shortened. */
  readonly auditLogMonths: number | undefined;
  readonly clock: Clock;
  readonly identity: Identity;
  readonly outbox: Outbox;
  readonly live: AccountPlans;
  /** With the payment provider. */
  readonly plans: Plans;
  readonly events: Pick<Events, 'linkUsers' | 'releaseUnpaid'>;
  readonly invites: Pick<Invites, 'due' | 'goOn'>;
  readonly batchWork: Pick<BatchWork, 'goOn'>;
  readonly ownKeys: OwnKeys;
  readonly keptLog: KeptState;
  readonly witnesses: readonly KnownWitness[];
  readonly metrics: Pick<Metrics, 'logFaults' | 'logAudit'>;
}

/** The recurring work of the service. */
export const recurringWork = (deps: RecurringWorkDeps): Timer[] => [
  ...peopleTimers(deps),
  ...ledgerTimers(deps),
  ...receiptTimers(deps),
  ...fileTimers(deps),
  ...planTimers(deps),
];

const peopleTimers = ({ identity, outbox, events, invites }: RecurringWorkDeps): Timer[] => [
  {
    name: 'identity-send-mails',
    due: `${LOGIN_FAILURES_DUE} or ${MAIL_REQUESTS_DUE} or ${MAILS_DUE}`,
    run: async ({ signal, log }) => {
      await identity.recordLoginFailures({ signal, log });
      await identity.answerMailRequests(signal);
      await outbox.sendDue(signal);
    },
  },
  { name: 'events-link-users', due: UNLINKED_USERS_DUE, run: ({ signal }) => events.linkUsers(signal) },
  { name: 'events-release-unpaid', everyMs: MINUTE_MS, run: ({ signal }) => events.releaseUnpaid(signal) },
  { name: 'invites-go-on', due: invites.due, run: ({ signal }) => invites.goOn(signal) },
  {
    name: 'identity-sweep',
    everyMs: HOUR_MS,
    run: async () => {
      await identity.sweep();
      await outbox.sweep();
    },
  },
];

/** Months, and sums of what was used in them. */
const ledgerTimers = ({ pool, rawBlobs, archive, clock, live, usageDetailMonths, auditLogMonths }: RecurringWorkDeps): Timer[] => [
  {
    name: 'archive-make-partitions',
    everyMs: SIX_HOURS_MS,
    // The ledger's writer makes what is missing.
    run: async () => {
      await makePartitionsAhead(pool, clock.now());
      await makeAuditMonths(pool, clock.now());
    },
  },
  { name: 'ledger-merge-segments', due: SEGMENTS_TO_MERGE, run: ({ signal }) => mergeSegments(pool, signal) },
  { name: 'ledger-sum-days', due: DAYS_TO_SUM, run: ({ signal, log }) => sumDays({ pool, archive, log }, signal) },
  ...(usageDetailMonths === undefined ? [] : [archiving({ pool, rawBlobs, clock, live, usageDetailMonths })]),
  ...(auditLogMonths === undefined ? [] : [forgettingEntries({ pool, rawBlobs, clock, auditLogMonths })]),
];

const receiptTimers = ({ pool, archive, clock, ownKeys, keptLog, witnesses, metrics }: RecurringWorkDeps): Timer[] => [
  {
    name: 'receipts-append-to-log',
    due: RECEIPTS_UNLOGGED,
    everyMs: MINUTE_MS,
    run: async ({ signal, log }) => {
      try {
        const undeclared = async (client: PoolClient) =>
          undeclaredKeys(client, { own: ownKeys, now: clock.now(), chain: await DeclarationChain.open(client) });
        await appendAll({ pool, keys: ownKeys.checkpoint, kept: keptLog, clock, log, undeclared }, signal);
      } finally {
        metrics.logFaults('stopped', (await stopsOf(pool)).length);
        metrics.logFaults('unsealed', (await unsealedReceipts(pool)).length);
      }
    },
  },
  ...(witnesses.length === 0 ? [] : [cosigning({ pool, witnesses, ownKeys, clock, metrics })]),
  auditing({ pool, archive, ownKeys, clock, metrics }),
  { name: 'receipts-thin-checkpoints', everyMs: HOUR_MS, run: ({ signal }) => thinCheckpoints({ pool, clock }, signal) },
];

const fileTimers = ({ pool, blobs, clock, batchWork }: RecurringWorkDeps): Timer[] => [
  { name: 'batches-go-on', due: BATCHES_DUE, atOnce: BATCHES_AT_ONCE, run: ({ signal }) => batchWork.goOn(signal) },
  { name: 'files-sweep', everyMs: TEN_MINUTES_MS, run: ({ signal }) => sweepExpired({ pool, blobs, clock }, signal) },
  {
    name: 'files-sweep-orphans',
    everyMs: SIX_HOURS_MS,
    run: async ({ signal, log }) => {
      const swept = await sweepOrphans({ pool, blobs, clock }, signal);
      if (swept > 0) log.warn({ swept }, 'blobs without a file were deleted');
      await blobs.sweepUnfinished(new Date(clock.now() - UNFINISHED_MS));
    },
  },
];

const planTimers = ({ live, plans }: RecurringWorkDeps): Timer[] => [
  {
    name: 'plans-apply-downgrades',
    everyMs: MINUTE_MS,
    run: async ({ signal }) => {
      await plans.downgrades.apply(1_000, signal);
      await plans.downgrades.endGrace(signal);
      await plans.downgrades.endClosed(signal);
      await live.gifts.endTrials(signal);
    },
  },
  { name: 'plans-end-refunds', everyMs: MINUTE_MS, run: ({ signal }) => plans.refunds.goOn(signal) },
  {
    name: 'plans-top-up',
    everyMs: TOPUP_MS,
    run: async ({ signal }) => {
      await plans.autoTopup.run(signal);
      await live.alerts.run();
    },
  },
  {
    name: 'plans-invoice-usage',
    everyMs: TEN_MINUTES_MS,
    run: async ({ signal }) => {
      await live.usageInvoices.issue();
      await plans.billing.run(signal);
    },
  },
  {
    name: 'plans-reconcile-payments',
    everyMs: HOUR_MS,
    run: async ({ log }) => {
      await plans.events.sweep();
      const { missed, differences } = await plans.reconcile();
      if (missed > 0) log.warn({ missed }, 'events of the payment provider had not arrived by webhook');
      for (const difference of differences) log.fatal(difference, 'the books disagree with the payments');
    },
  },
];

type ArchivingDeps = Pick<RecurringWorkDeps, 'pool' | 'rawBlobs' | 'clock' | 'live'> & { readonly usageDetailMonths: number };

const archiving = ({ pool, rawBlobs, clock, live, usageDetailMonths }: ArchivingDeps): Timer => ({
  name: 'archive-old-months',
  everyMs: SIX_HOURS_MS,
  run: async ({ signal, log }) => {
    // Invoices count the receipts that are in the database.
    await live.usageInvoices.issue();
    const isInvoiced = async (month: Month) => (await uninvoicedAccounts(pool, month)).length === 0;
    const first = await archiveOldMonths({ pool, blobs: rawBlobs, clock, log, isInvoiced }, usageDetailMonths, signal);
    // What is not archived can be refunded and corrected on the lanes that it was on.
    await forgetWindows(pool, monthStart(first), signal);
  },
});

type AuditingDeps = Pick<RecurringWorkDeps, 'pool' | 'archive' | 'ownKeys' | 'clock' | 'metrics'>;

const auditing = ({ pool, archive, ownKeys, clock, metrics }: AuditingDeps): Timer => {
  const isAgainDue = atMostEvery(AGAIN_EVERY_MS);
  return {
    name: 'receipts-audit-log',
    everyMs: AGAIN_EVERY_MS,
    due: ENTRIES_UNAUDITED,
    run: ({ signal, log }) =>
      auditLog(
        {
          ...{ pool, archive, own: ownKeys, clock, log, isAgainDue, onProgress: metrics.logAudit },
          onFound: (count) => metrics.logFaults('audit', count),
        },
        signal,
      ),
  };
};

type ForgettingDeps = Pick<RecurringWorkDeps, 'pool' | 'rawBlobs' | 'clock'> & { readonly auditLogMonths: number };

const forgettingEntries = ({ pool, rawBlobs, clock, auditLogMonths }: ForgettingDeps): Timer => ({
  name: 'audit-forget-entries',
  everyMs: SIX_HOURS_MS,
  // As requests are archived: a clock that is ahead deletes nothing.
  run: async ({ signal }) => {
    await forgetEntries(pool, monthStart(await oldestKept({ pool, blobs: rawBlobs, clock }, auditLogMonths)), signal);
  },
});

type CosigningDeps = Pick<RecurringWorkDeps, 'pool' | 'witnesses' | 'ownKeys' | 'clock' | 'metrics'>;

const cosigning = ({ pool, witnesses, ownKeys, clock, metrics }: CosigningDeps): Timer => ({
  name: 'receipts-cosign-log',
  everyMs: COSIGN_MS,
  run: ({ signal, log }) =>
    cosignLog({ pool, witnesses, own: ownKeys, clock, log, onRefusals: (count) => metrics.logFaults('witness', count) }, signal),
});
