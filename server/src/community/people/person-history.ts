import type { MarketingPersonHistoryEntry } from '@tallygate/contract';
import type { Pool } from 'pg';
import { rfc3339 } from '../../kernel/clock.ts';
import type { PersonRow } from './person-row.ts';
import type { Execute } from './upsert-contact.ts';

const SHOWN = 200;

export interface HistoryEntry {
  readonly personId: string;
  readonly action: string;
  readonly actor: MarketingPersonHistoryEntry['actor'];
  readonly detail: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

/** Writes down what was done to a person, in the transaction in which it is done. */
export async function noteInHistory(execute: Execute, { personId, action, actor, detail, at }: HistoryEntry): Promise<void> {
  await execute('insert into person_history (person_id, action, actor_kind, actor_id, detail, at) values ($1, $2, $3, $4, $5, $6)', [
    personId,
    action,
    actor.kind,
    actor.id,
    JSON.stringify(detail),
    at,
  ]);
}

interface HistoryRow {
  readonly action: string;
  readonly actor_kind: MarketingPersonHistoryEntry['actor']['kind'];
  readonly actor_id: string | null;
  readonly detail: Record<string, unknown>;
  readonly at: Date;
}

/** Newest first. */
export async function historyOf(pool: Pick<Pool, 'query'>, personId: string): Promise<MarketingPersonHistoryEntry[]> {
  const { rows } = await pool.query<HistoryRow>(
    `select action, actor_kind, actor_id, detail, at from person_history where person_id = $1 order by at desc, entry_id desc limit ${SHOWN}`,
    [personId],
  );
  return rows.map(({ action, actor_kind, actor_id, detail, at }) => ({
    ...{ action, detail, at: rfc3339(at) },
    actor: { kind: actor_kind, id: actor_id },
  }));
}

/** The person of an id, or of one that was merged into theirs. @param isLocked kept as they are until the transaction ends */
export async function personById(pool: Pick<Pool, 'query'>, personId: string, isLocked = false): Promise<PersonRow | undefined> {
  const { rows } = await pool.query<PersonRow>(
    `select * from people where person_id = $1 or (merged_ids <> '{}' and merged_ids @> array[$2::uuid])${isLocked ? ' for update' : ''}`,
    [personId, personId],
  );
  return rows[0];
}
