import type { Pool } from 'pg';
import * as z from 'zod';
import type { Refused } from '../adapters/lanes/port.ts';
import type { Execute, Principal } from '../identity/index.ts';
import { type Clock, monthOf, rfc3339 } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { NanoUsd } from '../kernel/money.ts';
import { type DueAlert, type KeyPeriod, recordAlerts } from './alerts.ts';
import { onClient } from './settlement-alerts.ts';

interface KeyRefusal extends KeyPeriod {
  readonly cap: NanoUsd;
  readonly spent: NanoUsd;
}

/** Remembers that keys came to their cap: that a request did not fit, and would not once running requests have settled. */
export interface KeyRefusals {
  /**
   * Told of every refused request; most have other reasons. It costs them a look into a map: the first refusal of a key under a cap is
   * written down behind its back.
   * @param at when the request arrived, epoch milliseconds
   */
  note(refused: Refused, principal: Principal, at: number): void;
  /** Resolves when everything noted so far is written, or could not be. */
  settled(): Promise<void>;
}

/** Past this many keys it starts afresh; what is noted twice is written once all the same. */
const MAX_NOTED = 50_000;

export function createKeyRefusals({ pool, clock, log }: { pool: Pool; clock: Clock; log: Log }): KeyRefusals {
  /** The highest cap under which each key was refused, with its month. */
  const noted = new Map<string, { month: string; cap: NanoUsd }>();
  const running = new Set<Promise<void>>();

  async function write(refusal: KeyRefusal): Promise<void> {
    try {
      await recordRefusal(pool, refusal, clock.now());
    } catch (error) {
      // The next refusal tries again.
      noted.delete(refusal.keyId);
      log.error({ err: error, keyId: refusal.keyId }, 'the refusal of a key could not be recorded');
    }
  }

  return {
    note({ lane: { source, cap, spent }, mayFitLater }, principal, at) {
      if (source !== 'key' || cap === null || mayFitLater || principal.kind !== 'key') return;
      const { keyId } = principal;
      const month = monthOf(at);
      const before = noted.get(keyId);
      if (before && before.month === month && before.cap >= cap) return;
      if (noted.size >= MAX_NOTED) noted.clear();
      noted.set(keyId, { month, cap });
      const writing = write({ keyId, month, cap, spent }).finally(() => running.delete(writing));
      running.add(writing);
    },

    async settled() {
      await Promise.all(running);
    },
  };
}

async function recordRefusal(pool: Pool, refusal: KeyRefusal, now: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await writeRefusal(onClient(client), refusal, now);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

const DueRows = z.array(z.object({ threshold: z.number() }));

async function writeRefusal(execute: Execute, { keyId, month, cap, spent }: KeyRefusal, now: number): Promise<void> {
  await execute(
    `insert into key_budget_refusals (key_id, period, cap_nano_usd, refused_at) values ($1, $2, $3, $4)
     on conflict (key_id, period) do update set
       cap_nano_usd = greatest(key_budget_refusals.cap_nano_usd, excluded.cap_nano_usd), refused_at = excluded.refused_at`,
    [keyId, month, cap, rfc3339(now)],
  );
  // The owner who struck 100 % off the list does not want to be told.
  const rows = await execute(
    'select t.threshold::int as threshold from api_keys, unnest(alert_thresholds) as t (threshold) where id = $1 and t.threshold = 100',
    [keyId],
  );
  const due: DueAlert[] = DueRows.parse(rows).map(({ threshold }) => ({ keyId, month, threshold, spent, cap }));
  await recordAlerts(execute, due, 'refusal', now);
}
