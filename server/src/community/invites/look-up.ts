import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { checkedRow, rowsOf } from '../../kernel/statements.ts';
import { walkPeople } from '../people/index.ts';
import { tables } from './tables.ts';

interface LookUpDeps {
  readonly pool: Pool;
  readonly clock: Clock;
}

const UNLOOKED = 'filter is not null and looked_up_at is null and revoked_at is null';

/** SQL: whether a batch waits for {@link lookUpDue}. */
export const LOOK_UPS_DUE = `exists (select from invite_batches where ${UNLOOKED} and expires_at > present)`;

const Open = z.object({ is_open: z.boolean() });

/** Invites everybody who matches the filter of a batch. Restarted after a crash, or run concurrently, it adds the missing ones. */
export async function lookUpDue({ pool, clock }: LookUpDeps, signal?: AbortSignal): Promise<void> {
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom('invite_batches')
      .select((eb) => ['batch_id' as const, eb.ref('filter').$notNull().as('filter')])
      .where(sql<SqlBool>`${sql.raw(UNLOOKED)}`)
      .where('expires_at', '>', new Date(clock.now()))
      .orderBy('created_at')
      .orderBy('batch_id'),
  );
  for (const { batch_id: batchId, filter } of rows) {
    let isOver = false;
    for await (const people of walkPeople(pool, filter)) {
      isOver = !(await invite(pool, batchId, people)) || signal?.aborted === true;
      if (isOver) break;
    }
    if (!isOver) await pool.query('update invite_batches set looked_up_at = $2 where batch_id = $1', [batchId, new Date(clock.now())]);
  }
}

/**
 * The batch is locked while people are added, so that a revoked one gets none afterwards; so are the people: a concurrent erasure is
 * waited for, and the person is skipped. People are locked, and invitations are created, in one order, since two processes do this at the same time.
 * @returns false for a batch that was revoked meanwhile
 */
async function invite(pool: Pool, batchId: string, people: readonly { readonly person_id: string }[]): Promise<boolean> {
  const answer = await checkedRow(
    pool,
    Open,
    `with batch as (select batch_id from invite_batches where batch_id = $1 and revoked_at is null for share),
       fitting as (select person_id, email, name from people where person_id = any($3::uuid[]) order by person_id for share),
       made as (
         insert into invites (invite_id, batch_id, email, name, status, max_uses)
         select new.invite_id, batch.batch_id, fitting.email, fitting.name, 'pending', 1
         from batch, fitting join unnest($2::uuid[], $3::uuid[]) as new (invite_id, person_id) using (person_id) order by lower(fitting.email)
         on conflict (batch_id, lower(email)) where email is not null do nothing)
     select exists (select from batch) as is_open`,
    [batchId, people.map(() => newId()), people.map(({ person_id }) => person_id)],
  );
  return answer?.is_open === true;
}
