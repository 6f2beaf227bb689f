import type { Pool } from 'pg';
import * as z from 'zod';
import type { LaneSource, Units } from '../../adapters/lanes/port.ts';
import { monthEnd, monthStart } from '../../kernel/clock.ts';
import { checkedRow } from '../../kernel/statements.ts';
import { parseLaneId } from './lane-ids.ts';

const Sums = z.record(z.string(), z.string().nullable());

/** Rebuilds any lane's counters from the ledger's rows. */
export function ledgerLaneSource(pool: Pool): LaneSource {
  const one = async (text: string, values: readonly unknown[]) => (await checkedRow(pool, Sums, text, [...values])) ?? {};
  const nano = (value: string | null | undefined): bigint => BigInt(value ?? 0);
  const days = (month: string) => [dateOf(monthStart(month)), dateOf(monthEnd(month))];

  return {
    async moneyLane(id) {
      const lane = parseLaneId(id);
      switch (lane.kind) {
        case 'run': {
          const row = await one(
            'select spent_nano::text as spent, ceiling_nano::text as ceiling from agent_runs where account_id = $1 and livemode = $2 and run_id = $3',
            [lane.accountId, lane.livemode, lane.runId],
          );
          return { spent: nano(row['spent']), cap: row['ceiling'] ? BigInt(row['ceiling']) : null };
        }
        case 'key': {
          const row = await one('select sum(cost_nano)::text as spent from usage_daily where key_id = $1 and day >= $2 and day < $3', [
            lane.keyId,
            ...days(lane.month),
          ]);
          return { spent: nano(row['spent']), cap: null };
        }
        case 'balance': {
          const accounts = [`customer_balance:${lane.accountId}`, `debt:${lane.accountId}`];
          // In one statement, so that no charge and no credit comes between the two sums.
          const row = await one(
            `select (select sum(amount_nano) from balance_credits where account_id = $2)::text as credited,
                    (select count(*) from balance_credits where account_id = $2)::text as credits,
                    (select sum(amount_nano) from ledger_daily where account = any($1))::text as balance`,
            [accounts, lane.accountId],
          );
          return { spent: nano(row['credited']) - nano(row['balance']), cap: nano(row['credited']), credits: Number(row['credits']) };
        }
        case 'invoice': {
          const accounts = [`receivable:${lane.accountId}`, `invoice_debt:${lane.accountId}`];
          const row = await one('select -sum(amount_nano) as spent from ledger_daily where account = any($1) and day >= $2 and day < $3', [
            accounts,
            ...days(lane.month),
          ]);
          return { spent: nano(row['spent']), cap: null };
        }
        case 'test': {
          const row = await one(
            'select sum(cost_nano)::text as spent from usage_daily where account_id = $1 and not livemode and day >= $2 and day < $3',
            [lane.accountId, ...days(lane.month)],
          );
          return { spent: nano(row['spent']), cap: null };
        }
        case 'limit': {
          const row = await one('select spent_nano::text as spent from lane_spend where lane_id = $1', [id]);
          return { spent: nano(row['spent']), cap: null };
        }
        case 'quota':
          throw new Error(`${id} counts units, not money`);
        default:
          return lane satisfies never;
      }
    },

    async quotaLane(id): Promise<Units> {
      const lane = parseLaneId(id);
      if (lane.kind !== 'quota') throw new Error(`${id} counts money, not units`);
      const row = await one(
        `select sum(covered_requests)::text as requests, sum(covered_tokens)::text as tokens, sum(covered_images)::text as images,
           sum(covered_audio_seconds)::text as audio_seconds, sum(covered_video_seconds)::text as video_seconds
         from usage_daily where account_id = $1 and livemode and day >= $2 and day < $3`,
        [lane.accountId, ...days(lane.month)],
      );
      return Object.fromEntries(QUOTA_METERS.map((meter) => [meter, nano(row[meter])]));
    },
  };
}

const QUOTA_METERS = ['requests', 'tokens', 'images', 'audio_seconds', 'video_seconds'] as const;

const dateOf = (at: Date): string => at.toISOString().slice(0, 10);
