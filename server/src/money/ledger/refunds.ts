import type { Pool } from 'pg';
import type { LaneStore, Refund } from '../../adapters/lanes/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId, newReceiptId } from '../../kernel/ids.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import { firstOf, type Queryable, type RowOf, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { Refund as RefundRow } from './entities.ts';
import { findStanding, lockSettled, type Owner, type StandingRow, whyMissing } from './find-settled.ts';
import { lanesOfRecord } from './lanes-of-record.ts';
import { type RefundRecord, ranNoModel, type SettlementRecord } from './settlement-record.ts';
import { tables } from './tables.ts';
import { recordOfRow } from './usage-row.ts';

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
  /**
   * `unknown`: the account has no such settled request. `failed`: it got no answer, and nothing was charged. `archived`: it is of a month whose
   * requests have left the database. `correcting`: a correction of it is on its way to the ledger, and decides how much is given back.
   */
  | { readonly refunded: false; readonly because: 'unknown' | 'uncharged' | 'archived' | 'correcting' };

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
  readonly alongside?: (db: Queryable, settled: { readonly accountId: string; readonly cost: NanoUsd }) => Promise<void>;
}

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
    const { pool } = this.#deps;
    const found = (await findStanding(pool, owner, requestId, attempt)) ?? (await this.#findWritten(owner, requestId, attempt));
    if (!found) return { refunded: false, because: await whyMissing(pool, requestId) };
    if (ranNoModel(found.outcome)) return { refunded: false, because: 'uncharged' };
    const claim = (await this.#claim(found, wish)) ?? (await this.#claimWritten(found, wish));
    if (!claim) return { refunded: false, because: 'correcting' };
    // Read after the claim: from then on nothing of it is corrected.
    const settled = (await findStanding(pool, found.account_id, found.request_id, found.attempt)) ?? found;
    const refund = madeRefund(settled, claim);
    // Two that ask at once have one claim between them, and the lanes tell which of them was first.
    const isFirst = claim.posted_at === null && (await this.#deps.lanes.refund(laneRefund(settled, claim)));
    return isFirst ? { refunded: true, refund } : { refunded: false, because: 'already_refunded', refund };
  }

  /** Ends what a process had begun when it died. To be called once the ledger has all that was in the journal. Returns how many. */
  async resume(): Promise<number> {
    const open = tables.selectFrom('refunds').select(['account_id', 'request_id', 'attempt', 'reason']).where('posted_at', 'is', null);
    const rows = await rowsOf(this.#deps.pool, open.orderBy('requested_at'));
    for (const { account_id, request_id, attempt, reason } of rows) await this.refund(account_id, request_id, attempt, { reason });
    return rows.length;
  }

  async #findWritten(owner: Owner, requestId: string, attempt: number | null): Promise<StandingRow | undefined> {
    await this.#deps.write();
    return findStanding(this.#deps.pool, owner, requestId, attempt);
  }

  async #claimWritten(settled: StandingRow, wish: RefundWish): Promise<Claim | undefined> {
    await this.#deps.write();
    return this.#claim(settled, wish);
  }

  /**
   * The first wish counts, with its reason and its time, so that asking again makes the same record. Undefined while a correction of the same
   * request is not in the ledger.
   */
  async #claim(settled: StandingRow, { reason, alongside }: RefundWish): Promise<Claim | undefined> {
    const { pool, clock } = this.#deps;
    const { request_id, attempt, account_id } = settled;
    return inTransaction(pool, async (client) => {
      await lockSettled(client, settled);
      const correction = await firstOf(
        client,
        tables
          .selectFrom('corrections')
          .select(['cost_nano', 'posted_at'])
          .where('request_id', '=', request_id)
          .where('attempt', '=', attempt),
      );
      if (correction && correction.posted_at === null) return undefined;
      const { rowCount } = await client.query(
        `insert into refunds (refund_id, receipt_id, request_id, attempt, account_id, reason, requested_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (request_id, attempt) do nothing`,
        [newId(), newReceiptId(), request_id, attempt, account_id, reason, new Date(clock.now())],
      );
      const cost = correction?.cost_nano ?? settled.cost_nano;
      if (rowCount === 1) await alongside?.(client, { accountId: account_id, cost });
      const ofIt = tables.selectFrom('refunds').select(CLAIMED).where('request_id', '=', request_id);
      const claim = await firstOf(client, ofIt.where('attempt', '=', attempt));
      if (!claim) throw new Error(`The refund of ${request_id} is gone`);
      return claim;
    });
  }
}

const CLAIMED = ['refund_id', 'receipt_id', 'reason', 'requested_at', 'posted_at'] as const;
type Claim = Readonly<Pick<RowOf<typeof RefundRow>, (typeof CLAIMED)[number]>>;

function laneRefund(settled: StandingRow, claim: Claim): Refund {
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
const laneCharge = (settled: StandingRow, { funding, cost }: SettlementRecord): NanoUsd =>
  funding === 'test' ? BigInt(cost) : settled.charged_nano;

const refundRecord = (settled: StandingRow, record: SettlementRecord, claim: Claim): RefundRecord => ({
  ...record,
  kind: 'refund',
  refundId: claim.refund_id,
  refundReceiptId: claim.receipt_id,
  reason: claim.reason,
  refundedAt: claim.requested_at.getTime(),
  debt: settled.debt_nano.toString(),
});

const madeRefund = (settled: StandingRow, claim: Claim): MadeRefund => ({
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
