import type { MarketingPersonHistoryEntry } from '@tallygate/contract';
import { type SqlBool, sql } from 'kysely';
import { rfc3339 } from '../../kernel/clock.ts';
import { firstOf, type Queryable, rowsOf } from '../../kernel/statements.ts';
import type { PersonRow } from './person-row.ts';
import { tables } from './tables.ts';

const SHOWN = 200;

export interface HistoryEntry {
  readonly personId: string;
  readonly action: string;
  readonly actor: MarketingPersonHistoryEntry['actor'];
  readonly detail: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

/** Writes down what was done to a person, in the transaction in which it is done. */
export async function noteInHistory(db: Queryable, { personId, action, actor, detail, at }: HistoryEntry): Promise<void> {
  await db.query('insert into person_history (person_id, action, actor_kind, actor_id, detail, at) values ($1, $2, $3, $4, $5, $6)', [
    personId,
    action,
    actor.kind,
    actor.id,
    JSON.stringify(detail),
    at,
  ]);
}

/** Newest first. */
export async function historyOf(pool: Queryable, personId: string): Promise<MarketingPersonHistoryEntry[]> {
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom('person_history')
      .select(['action', 'actor_kind', 'actor_id', 'detail', 'at'])
      .where('person_id', '=', personId)
      .orderBy('at', 'desc')
      .orderBy('entry_id', 'desc')
      .limit(SHOWN),
  );
  return rows.map(({ action, actor_kind, actor_id, detail, at }) => ({
    ...{ action, detail, at: rfc3339(at) },
    actor: { kind: actor_kind, id: actor_id },
  }));
}

/** The person of an id, or of one that was merged into theirs. @param isLocked lock the person until the transaction ends */
export async function personById(pool: Queryable, personId: string, isLocked = false): Promise<PersonRow | undefined> {
  const found = tables
    .selectFrom('people')
    .selectAll()
    .where(sql<SqlBool>`person_id = ${personId} or (merged_ids <> '{}' and merged_ids @> array[${personId}::uuid])`);
  return firstOf(pool, isLocked ? found.forUpdate() : found);
}
