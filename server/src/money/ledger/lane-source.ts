import type { Pool } from 'pg';
import * as z from 'zod';
import type { LaneSource, MoneyOnRecord, Units } from '../../adapters/lanes/port.ts';
import { type Month, monthEnd, monthStart } from '../../kernel/clock.ts';
import { checkedRow } from '../../kernel/statements.ts';
import { type LaneName, parseLaneId } from './lane-ids.ts';

type Lane<Kind extends LaneName['kind']> = Extract<LaneName, { readonly kind: Kind }>;

const Sums = z.record(z.string(), z.string().nullable());
const QUOTA_METERS = ['requests', 'tokens', 'images', 'audio_seconds', 'video_seconds'] as const;

/** Rebuilds any lane's counters from the ledger's rows. */
export class LedgerLaneSource implements LaneSource {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async moneyLane(id: string): Promise<MoneyOnRecord> {
    const lane = parseLaneId(id);
    switch (lane.kind) {
      case 'run':
        return this.#run(lane);
      case 'key':
        return this.#key(lane);
      case 'balance':
        return this.#balance(lane);
      case 'invoice':
        return this.#invoice(lane);
      case 'test':
        return this.#testFunds(lane.accountId, lane.month);
      case 'limit':
        return this.#limit(id);
      case 'quota':
        throw new Error(`${id} counts units, not money`);
      default:
        return lane satisfies never;
    }
  }

  async quotaLane(id: string): Promise<Units> {
    const lane = parseLaneId(id);
    if (lane.kind !== 'quota') throw new Error(`${id} counts money, not units`);
    const row = await this.#one(
      `select sum(covered_requests)::text as requests, sum(covered_tokens)::text as tokens, sum(covered_images)::text as images,
         sum(covered_audio_seconds)::text as audio_seconds, sum(covered_video_seconds)::text as video_seconds
       from usage_daily where account_id = $1 and livemode and day >= $2 and day < $3`,
      [lane.accountId, ...daysOf(lane.month)],
    );
    return Object.fromEntries(QUOTA_METERS.map((meter) => [meter, nano(row[meter])]));
  }

  async #run({ accountId, livemode, runId }: Lane<'run'>): Promise<MoneyOnRecord> {
    const row = await this.#one(
      'select spent_nano::text as spent, ceiling_nano::text as ceiling from agent_runs where account_id = $1 and livemode = $2 and run_id = $3',
      [accountId, livemode, runId],
    );
    return { spent: nano(row['spent']), cap: row['ceiling'] ? BigInt(row['ceiling']) : null };
  }

  async #key({ keyId, month }: Lane<'key'>): Promise<MoneyOnRecord> {
    return this.#spent('select sum(cost_nano)::text as spent from usage_daily where key_id = $1 and day >= $2 and day < $3', [
      keyId,
      ...daysOf(month),
    ]);
  }

  async #balance({ accountId }: Lane<'balance'>): Promise<MoneyOnRecord> {
    const accounts = [`customer_balance:${accountId}`, `debt:${accountId}`];
    // In one statement, so that no charge and no credit comes between the two sums.
    const row = await this.#one(
      `select (select sum(amount_nano) from balance_credits where account_id = $2)::text as credited,
              (select count(*) from balance_credits where account_id = $2)::text as credits,
              (select sum(amount_nano) from ledger_daily where account = any($1))::text as balance`,
      [accounts, accountId],
    );
    return { spent: nano(row['credited']) - nano(row['balance']), cap: nano(row['credited']), credits: Number(row['credits']) };
  }

  async #invoice({ accountId, month }: { readonly accountId: string; readonly month: Month }): Promise<MoneyOnRecord> {
    const accounts = [`receivable:${accountId}`, `invoice_debt:${accountId}`];
    return this.#spent('select -sum(amount_nano) as spent from ledger_daily where account = any($1) and day >= $2 and day < $3', [
      accounts,
      ...daysOf(month),
    ]);
  }

  async #testFunds(accountId: string, month: Month): Promise<MoneyOnRecord> {
    return this.#spent(
      'select sum(cost_nano)::text as spent from usage_daily where account_id = $1 and not livemode and day >= $2 and day < $3',
      [accountId, ...daysOf(month)],
    );
  }

  async #limit(id: string): Promise<MoneyOnRecord> {
    return this.#spent('select spent_nano::text as spent from lane_spend where lane_id = $1', [id]);
  }

  /** What has no cap on record. */
  async #spent(text: string, values: readonly unknown[]): Promise<MoneyOnRecord> {
    return { spent: nano((await this.#one(text, values))['spent']), cap: null };
  }

  async #one(text: string, values: readonly unknown[]): Promise<z.infer<typeof Sums>> {
    return (await checkedRow(this.#pool, Sums, text, [...values])) ?? {};
  }
}

const nano = (value: string | null | undefined): bigint => BigInt(value ?? 0);

const daysOf = (month: Month): [string, string] => [dateOf(monthStart(month)), dateOf(monthEnd(month))];

const dateOf = (at: Date): string => at.toISOString().slice(0, 10);
