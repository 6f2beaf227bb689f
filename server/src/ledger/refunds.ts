import type { Pool } from 'pg';
import type { LaneStore, Refund } from '../adapters/lanes/port.ts';
import type { Execute } from '../identity/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId, newReceiptId } from '../kernel/ids.ts';
import type { NanoUsd } from '../kernel/money.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { lanesOfRecord } from './lanes-of-record.ts';
import type { RefundRecord, SettlementRecord } from './settlement-record.ts';
import { recordOfRow, type UsageRecordRow } from './usage-row.ts';

/** What was given back, once it was decided. */
export interface MadeRefund {
  readonly refundId: string;
  /** The refund's own receipt; it can be read a moment later. */
  readonly receiptId: string;
  /** The receipt of what was refunded. */
  readonly refundOf: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly attempt: number;
  readonly reason: string;
  readonly refundedAt: number;
  /** All that the request cost at catalogue prices: spent falls by as much. */
  readonly cost: NanoUsd;
  /** The part of it that the account had paid, back to where it came from. */
  readonly charged: NanoUsd;
}

export type RefundOutcome =
  | { readonly refunded: true; readonly refund: MadeRefund }
  | { readonly refunded: false; readonly because: 'already_refunded'; readonly refund: MadeRefund }
  /** `unknown`: the account has no such settled request. `failed`: it got no answer, and nothing was charged. */
  | { readonly refunded: false; readonly because: 'unknown' | 'failed' };

interface RefundsDeps {
  readonly pool: Pool;
  readonly lanes: Pick<LaneStore, 'refund'>;
  readonly clock: Clock;
  /** Writes what is settled and not yet in the ledger: a request may be refunded right after it was settled. */
  readonly write: () => Promise<void>;
}

export interface RefundWish {
  /** Stands in the refund's receipt, which is public to whoever knows its id. */
  readonly reason: string;
  /** Written with the first wish, in its transaction: who asked for it. */
  readonly alongside?: (execute: Execute, settled: { readonly accountId: string; readonly cost: NanoUsd }) => Promise<void>;
}

/** Of a settled request's account; null, for administrators, of any. */
type Owner = string | null;

/**
 * Gives back all that a settled request was charged, to the lanes and ledger accounts it came from, once. The wish is written down first,
 * then the lanes give back and journal it, and the ledger's writer books it. Whatever dies in between, asking again ends what was begun.
 */
export class Refunds {
  readonly #deps: RefundsDeps;

  constructor(deps: RefundsDeps) {
    this.#deps = deps;
  }

  /** @param attempt which of the request's settlements; null for the newest that was charged */
  async refund(owner: Owner, requestId: string, attempt: number | null, wish: RefundWish): Promise<RefundOutcome> {
    const settled = (await this.#find(owner, requestId, attempt)) ?? (await this.#findWritten(owner, requestId, attempt));
    if (!settled) return { refunded: false, because: 'unknown' };
    if (settled.outcome === 'failed') return { refunded: false, because: 'failed' };
    const claim = await this.#claim(settled, wish);
    const refund = madeRefund(settled, claim);
    // Two that ask at once have one claim between them, and the lanes tell which of them was first.
    const isFirst = claim.posted_at === null && (await this.#deps.lanes.refund(laneRefund(settled, claim)));
    return isFirst ? { refunded: true, refund } : { refunded: false, because: 'already_refunded', refund };
  }

  /** Ends what a process had begun when it died. To be called once the ledger has all that was in the journal. Returns how many. */
  async resume(): Promise<number> {
    const { rows } = await this.#deps.pool.query<{ account_id: string; request_id: string; attempt: number; reason: string }>(
      'select account_id, request_id, attempt, reason from refunds where posted_at is null order by requested_at',
    );
    for (const { account_id, request_id, attempt, reason } of rows) await this.refund(account_id, request_id, attempt, { reason });
    return rows.length;
  }

  async #findWritten(owner: Owner, requestId: string, attempt: number | null): Promise<UsageRecordRow | undefined> {
    await this.#deps.write();
    return this.#find(owner, requestId, attempt);
  }

  async #find(owner: Owner, requestId: string, attempt: number | null): Promise<UsageRecordRow | undefined> {
    const { rows } = await this.#deps.pool.query<UsageRecordRow>(
      `select * from usage_records where request_id = $1 and ($2::uuid is null or account_id = $2) and ($3::int is null or attempt = $3)
       order by outcome = 'failed', attempt desc limit 1`,
      [requestId, owner, attempt],
    );
    return rows[0];
  }

  /** The first wish counts, with its reason and its time, so that asking again makes the same record. */
  async #claim(settled: UsageRecordRow, { reason, alongside }: RefundWish): Promise<Claim> {
    const { pool, clock } = this.#deps;
    const { request_id, attempt, account_id, cost_nano } = settled;
    await inTransaction(pool, async (client) => {
      const { rowCount } = await client.query(
        `insert into refunds (refund_id, receipt_id, request_id, attempt, account_id, reason, requested_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (request_id, attempt) do nothing`,
        [newId(), newReceiptId(), request_id, attempt, account_id, reason, new Date(clock.now())],
      );
      if (rowCount === 1) await alongside?.((sql, values) => client.query(sql, values), { accountId: account_id, cost: cost_nano });
    });
    const { rows } = await pool.query<Claim>(
      'select refund_id, receipt_id, reason, requested_at, posted_at from refunds where request_id = $1 and attempt = $2',
      [request_id, attempt],
    );
    const [claim] = rows;
    if (!claim) throw new Error(`The refund of ${request_id} is gone`);
    return claim;
  }
}

interface Claim {
  readonly refund_id: string;
  readonly receipt_id: string;
  readonly reason: string;
  readonly requested_at: Date;
  readonly posted_at: Date | null;
}

function laneRefund(settled: UsageRecordRow, claim: Claim): Refund {
  const record = recordOfRow(settled);
  return {
    refundId: claim.refund_id,
    accountId: record.accountId,
    ...lanesOfRecord(record),
    cost: BigInt(record.cost),
    charged: laneCharge(settled, record),
    covered: Object.fromEntries(Object.entries(settled.covered).map(([meter, units]) => [meter, BigInt(units)])),
    record: JSON.stringify(refundRecord(settled, record, claim)),
  };
}

/** In test mode nobody pays, but a lane counts as if somebody did. */
const laneCharge = (settled: UsageRecordRow, { funding, cost }: SettlementRecord): NanoUsd =>
  funding === 'test' ? BigInt(cost) : settled.charged_nano;

const refundRecord = (settled: UsageRecordRow, record: SettlementRecord, claim: Claim): RefundRecord => ({
  ...record,
  kind: 'refund',
  refundId: claim.refund_id,
  refundReceiptId: claim.receipt_id,
  reason: claim.reason,
  refundedAt: claim.requested_at.getTime(),
  debt: settled.debt_nano.toString(),
});

const madeRefund = (settled: UsageRecordRow, claim: Claim): MadeRefund => ({
  refundId: claim.refund_id,
  receiptId: claim.receipt_id,
  refundOf: settled.receipt_id,
  accountId: settled.account_id,
  requestId: settled.request_id,
  attempt: settled.attempt,
  reason: claim.reason,
  refundedAt: claim.requested_at.getTime(),
  cost: settled.cost_nano,
  charged: settled.charged_nano,
});
