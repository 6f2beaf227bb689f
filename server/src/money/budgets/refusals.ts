import type { Pool } from 'pg';
import * as z from 'zod';
import type { Refused } from '../../adapters/lanes/port.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, monthOf, rfc3339 } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import { checkedRow, type Queryable } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { type KeyPeriod, recordAlerts } from './alerts.ts';
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

/** Past this many it starts afresh; what is noted twice is written once all the same. */
const MAX_NOTED = 50_000;

export function createKeyRefusals({ pool, clock, log }: { pool: Pool; clock: Clock; log: Log }): KeyRefusals {
  /** What was written before. */
  const noted = new Set<string>();
  const running = new Set<Promise<void>>();

  async function write(refusal: KeyRefusal, what: string): Promise<void> {
    try {
      await recordRefusal(pool, refusal, clock.now());
    } catch (error) {
      // The next refusal tries again.
      noted.delete(what);
      log.error({ err: error, keyId: refusal.keyId }, 'the refusal of a key could not be recorded');
    }
  }

  return {
    note({ lane: { id, source, cap, spent }, required, mayFitLater }, principal, at) {
      // Limits of a key by other periods are lanes of another name.
      if (source !== 'key' || !id.startsWith('key:') || cap === null || mayFitLater || principal.kind !== 'key') return;
      const { keyId } = principal;
      const month = monthOf(at);
      const what = `${keyId} ${month} ${cap} ${comesToCap(spent, cap)}`;
      if (noted.has(what)) return;
      if (noted.size >= MAX_NOTED) noted.clear();
      noted.add(what);
      const writing = write({ keyId, month, cap, spent, required }, what).finally(() => running.delete(writing));
      running.add(writing);
    },

    async settled() {
      await Promise.all(running);
    },
  };
}

const recordRefusal = (pool: Pool, refusal: KeyRefusal, now: number): Promise<void> =>
  inTransaction(pool, (client) => writeRefusal(client, refusal, now));

const Wanting = z.object({ id: z.string() });

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
  // The owner who struck 100 % off the list does not want to be told.
  const wanting = await checkedRow(db, Wanting, 'select id from api_keys where id = $1 and 100 = any(alert_thresholds)', [keyId]);
  if (wanting) await recordAlerts(db, [{ ...refusal, threshold: isReached ? 100 : null, cause: 'refusal' }], now);
}
