import { randomBytes } from 'node:crypto';
import type { PriceDeclaration, Undeclared } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { ensurePartitions, RECEIPTS } from '../../archive/index.ts';
import { monthOf, rfc3339 } from '../../kernel/clock.ts';
import { newId, newReceiptId, newRequestId, timeOfId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { digestOf, issueReceipt, type ReceiptFacts } from '../issue-receipt.ts';
import { Declaring, type DeclaringDeps, PriceEntries, priceSubject } from '../log/declare.ts';
import type { KeptState } from '../log/kept-state.ts';
import { takeNumbers } from '../receipt-numbers.ts';
import { sealKeyOf, sealOf } from '../seal.ts';
import type { SigningKey } from '../signing-keys.ts';

export const ACCOUNT_ID = newId();

/** What matters of a receipt here; the rest is as of any small request. */
export interface ReceiptWish extends Partial<ReceiptFacts> {
  readonly completedAt: number;
}

/** As a request is paid of which no quota covers anything. */
const paidBy = (livemode: boolean, cost: string): ReceiptFacts['payment'] =>
  livemode
    ? { plan: 'pro@1', funding: 'balance', covered: {}, charged_nano_usd: cost }
    : { plan: null, funding: 'test', covered: {}, charged_nano_usd: '0' };

/**
 * Makes the price of the receipts here an entry of the log: 1 nano-USD a token, since the beginning of 2026.
 *
 * @returns what receipts say that are charged at it
 */
export async function declarePrice(deps: Omit<DeclaringDeps, 'log' | 'clock'>): Promise<Partial<ReceiptFacts>> {
  const since = '2026-01-01T00:00:00.000Z';
  const unit_prices_pico_usd = { input_tokens: '1000' };
  const declaration: Undeclared<PriceDeclaration> = {
    ...{ version: 'tallygate-declaration/v1', kind: 'price', declared_at: since, effective_from: since, model: 'm', price_version: 'v' },
    ...{ unit_prices_pico_usd, tiers: [], batch_factor: '1' },
  };
  const declaring = new Declaring({ ...deps, clock: { now: () => Date.parse(since) }, log: silentLog() });
  const keep = await inTransaction(deps.pool, (client) => declaring.within(client, [declaration]));
  await keep();
  const entry = (await new PriceEntries().of(deps.pool, [priceSubject('m', 'v')])).get(priceSubject('m', 'v')) ?? null;
  return { price_entry: entry, unit_prices_pico_usd, cost_nano_usd: '1' };
}

/** Receipts as the ledger's writer stores them, for the log of that key. @returns their ids */
export async function storeReceipts(pool: Pool, logKey: SigningKey, wishes: readonly ReceiptWish[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { completedAt, ...wish } of wishes) {
    const of = {
      accountId: wish.account_id ?? ACCOUNT_ID,
      livemode: wish.livemode ?? true,
      startedAt: Date.parse(wish.started_at ?? rfc3339(completedAt)),
    };
    const [number = 0] = await takeNumbers(pool, [of]);
    const facts: ReceiptFacts = {
      kind: 'usage',
      receipt_id: newReceiptId(),
      request_id: newRequestId(),
      account_id: ACCOUNT_ID,
      key_id: null,
      livemode: true,
      account_sequence: number,
      endpoint: '/v1/chat/completions',
      run_id: null,
      model_requested: 'm',
      model_served: 'm',
      provider: 'p',
      fallback: 'none',
      outcome: 'completed',
      request_sha256: 'a'.repeat(64),
      response_sha256: 'b'.repeat(64),
      usage: { input_tokens: 1, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
      estimated: false,
      price_version: 'v',
      price_entry: null,
      price_tier_above_input_tokens: null,
      unit_prices_pico_usd: { input_tokens: '0' },
      price_factor: '1',
      cost_nano_usd: '0',
      payment: paidBy(wish.livemode ?? true, wish.cost_nano_usd ?? '0'),
      refund_of: null,
      refund_reason: null,
      started_at: rfc3339(completedAt),
      completed_at: rfc3339(completedAt),
      client_signature: null,
      ...wish,
    };
    const issued = issueReceipt(facts);
    await ensurePartitions(pool, RECEIPTS, [monthOf(timeOfId(issued.receiptId))]);
    await pool.query(
      `insert into receipts (receipt_id, account_id, request_id, payload, digest, seal, livemode, kind, model, run_id, started_at, account_sequence)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        ...[issued.receiptId, facts.account_id, facts.request_id, issued.payload, issued.digest, sealOf(sealKeyOf(logKey), issued.digest)],
        ...[facts.livemode, facts.kind, facts.model_served, facts.run_id, facts.started_at, facts.account_sequence],
      ],
    );
    ids.push(issued.receiptId);
  }
  return ids;
}

/** So many receipts, as far as the log is concerned. @returns their payloads by id, in no order */
export async function storeSmallReceipts(
  pool: Pool,
  logKey: SigningKey,
  count: number,
  { isWished = false, at = Date.now() }: { readonly isWished?: boolean; readonly at?: number } = {},
): Promise<Map<string, string>> {
  const made = Array.from({ length: count }, () => {
    const id = newId();
    const payload = `{"nonce":"${randomBytes(16).toString('hex')}","receipt_id":"${id}"}`;
    const digest = digestOf(payload);
    return { id, payload, digest, seal: sealOf(sealKeyOf(logKey), digest) };
  });
  await ensurePartitions(
    pool,
    RECEIPTS,
    made.map(({ id }) => monthOf(timeOfId(id))),
  );
  await pool.query(
    `insert into receipts (receipt_id, account_id, request_id, payload, digest, seal, anchor_wished, issued_at)
     select id, id, id::text, payload, digest, seal, $5, $6 from unnest($1::uuid[], $2::text[], $3::bytea[], $4::bytea[]) as made (id, payload, digest, seal)`,
    [
      ...[made.map(({ id }) => id), made.map(({ payload }) => payload), made.map(({ digest }) => digest), made.map(({ seal }) => seal)],
      ...[isWished, new Date(at)],
    ],
  );
  return new Map(made.map(({ id, payload }) => [id, payload]));
}

/** What a gateway remembers of its log for as long as the test does. */
export function keptInMemory(): KeptState {
  let note: string | undefined;
  return {
    read: async () => note,
    keep: async (next) => {
      note = next;
    },
  };
}
