import type { Pool } from 'pg';
import * as z from 'zod';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { defineJob, type Job } from '../adapters/queue/port.ts';
import { sweepExpired, sweepOrphans } from '../files/index.ts';
import type { Identity, Outbox } from '../identity/index.ts';
import { type Clock, monthEnd, monthOf } from '../kernel/clock.ts';
import { ensurePartitions } from '../ledger/index.ts';

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;
const SIX_HOURS_MS = 6 * HOUR_MS;
/** What somebody waiting for a mail does not notice. */
const OUTBOX_MS = 2_000;

interface ScheduledJobsDeps {
  readonly pool: Pool;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly identity: Identity;
  readonly outbox: Outbox;
}

/** The recurring work of the service. */
export const scheduledJobs = ({ pool, blobs, clock, identity, outbox }: ScheduledJobsDeps): Job[] => [
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
];
