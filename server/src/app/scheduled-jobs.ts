import type { Pool } from 'pg';
import * as z from 'zod';
import { defineJob, type Job } from '../adapters/queue/port.ts';
import { type Clock, monthEnd, monthOf } from '../kernel/clock.ts';
import { ensurePartitions } from '../ledger/index.ts';

const SIX_HOURS_MS = 6 * 3_600_000;

/** The recurring work of the service. */
export const scheduledJobs = ({ pool, clock }: { pool: Pool; clock: Clock }): Job[] => [
  defineJob({
    name: 'ledger-make-partitions',
    payload: z.object({}),
    schedule: { everyMs: SIX_HOURS_MS },
    // The writer makes a missing partition itself; ahead of time it takes no lock from anybody.
    run: () => ensurePartitions(pool, [clock.now(), monthEnd(monthOf(clock.now())).getTime()]),
  }),
];
