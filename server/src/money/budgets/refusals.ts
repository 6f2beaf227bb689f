import type { Pool } from 'pg';
import * as z from 'zod';
import type { Refused } from '../../adapters/lanes/port.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, monthOf, rfc3339 } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { formatUsd, type NanoUsd } from '../../kernel/money.ts';
import { NotedOnce } from '../../kernel/noted-once.ts';
import { checkedRow, type Queryable } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { recordEvent } from '../../webhooks/index.ts';
import { type KeyPeriod, recordAlerts } from './alerts.ts';
import { periodOf } from './period.ts';
import { comesToCap } from './standing.ts';

interface KeyRefusal extends KeyPeriod {
  readonly cap: NanoUsd;
  readonly spent: NanoUsd;
  /** Worst case of the request. */
  readonly required: NanoUsd;
}

/** Remembers that keys were refused: that a request did not fit under the cap, and would not once running requests have settled. */
export interface KeyRefusals {
  /**
   * Told of every refused request; most have other reasons. It costs them a look into a set: the first refusal of a key under a cap, and
   * the first that comes to the cap, are written down behind its back.
   * @param at when the request arrived, epoch milliseconds
   */
  note(refused: Refused, principal: Principal, at: number): void;
  /** Resolves when everything noted so far is written, or could not be. */
  settled(): Promise<void>;
}

export function createKeyRefusals({ pool, clock, log }: { pool: Pool; clock: Clock; log: Log }): KeyRefusals {
  const notes = new NotedOnce(log, 'the refusal of a key could not be recorded');
  return {
    note({ lane: { id, source, cap, spent }, required, mayFitLater }, principal, at) {
      // Limits of a key by other periods are lanes of another name.
      if (source !== 'key' || !id.startsWith('key:') || cap === null || mayFitLater || principal.kind !== 'key') return;
      const { keyId } = principal;
      const month = monthOf(at);
      notes.note(`${keyId} ${month} ${cap} ${comesToCap(spent, cap)}`, () =>
        recordRefusal(pool, { keyId, month, cap, spent, required }, clock.now()),
      );
    },
    settled: () => notes.settled(),
  };
}

const recordRefusal = (pool: Pool, refusal: KeyRefusal, now: number): Promise<void> =>
  inTransaction(pool, (client) => writeRefusal(client, refusal, now));

const KeyRow = z.object({ account_id: z.string(), name: z.string(), is_wanting: z.boolean() });

async function writeRefusal(db: Queryable, refusal: KeyRefusal, now: number): Promise<void> {
  const { keyId, month, cap, spent } = refusal;
  const isReached = comesToCap(spent, cap);
  if (isReached)
    await db.query(
      `insert into key_budget_refusals (key_id, period, cap_nano_usd, refused_at) values ($1, $2, $3, $4)
       on conflict (key_id, period) do update set
         cap_nano_usd = greatest(key_budget_refusals.cap_nano_usd, excluded.cap_nano_usd), refused_at = excluded.refused_at`,
      [keyId, month, cap, rfc3339(now)],
    );
  const key = await checkedRow(
    db,
    KeyRow,
    'select account_id, name, 100 = any(alert_thresholds) as is_wanting from api_keys where id = $1',
    [keyId],
  );
  if (!key) return;
  await tellWebhooks(db, refusal, key);
  // The owner who struck 100 % off the list does not want to be told.
  if (key.is_wanting) await recordAlerts(db, [{ ...refusal, threshold: isReached ? 100 : null, cause: 'refusal' }], now);
}

/** Once for each cap of a month: a raised one can be hit again. */
async function tellWebhooks(
  db: Queryable,
  { keyId, month, cap, spent, required }: KeyRefusal,
  { account_id: accountId, name }: z.infer<typeof KeyRow>,
): Promise<void> {
  const figures = { spent_usd: formatUsd(spent), cap_usd: formatUsd(cap), required_usd: formatUsd(required) };
  const data = { key_id: keyId, name, period: month, ...figures, resets_at: periodOf(month).resetsAt };
  await recordEvent(db, { accountId, type: 'budget.cap_hit', data, dedupeKey: `budget.cap_hit:${keyId}:${month}:${cap}` });
}
