import type { ReceiptUsage } from '@tallygate/contract';
import { canonicalJson } from '@tallygate/receipts';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { LaneStore, Refund, Units } from '../../adapters/lanes/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId, newReceiptId } from '../../kernel/ids.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import { firstOf, type Queryable, type RowOf, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { Price } from '../catalog/index.ts';
import type { Correction } from './entities.ts';
import { countsOf, usageOfRow, withoutZeros } from './field-kinds.ts';
import { findSettled, lockSettled, whyMissing } from './find-settled.ts';
import { lanesOfRecord } from './lanes-of-record.ts';
import { paymentOf, reprice } from './reprice.ts';
import { type CorrectionRecord, type Repricing, ranNoModel } from './settlement-record.ts';
import { tables } from './tables.ts';
import { type PricedRow, recordOfRow } from './usage-row.ts';

/** What was corrected, once it was decided. */
export interface MadeCorrection {
  readonly correctionId: string;
  /** The correction's own receipt; it can be read a moment later. */
  readonly receiptId: string;
  /** The receipt in whose place it is. */
  readonly corrects: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly reason: string;
  readonly correctedAt: number;
  readonly usage: ReceiptUsage;
  /** At catalogue prices, and what of it the account pays. */
  readonly now: { readonly cost: NanoUsd; readonly charged: NanoUsd };
  readonly before: { readonly cost: NanoUsd; readonly charged: NanoUsd };
}

export type CorrectionOutcome =
  | { readonly corrected: boolean; readonly correction: MadeCorrection }
  /**
   * `unknown`: there is no such settled request. `failed`: it got no answer. `refunded`: nothing of it counts any longer. `same`: it was
   * settled with this usage. `corrected`: with other usage than this.
   */
  | { readonly corrected: false; readonly because: 'unknown' | 'uncharged' | 'archived' | 'refunded' | 'same' | 'corrected' }
  /** The usage cannot be; `reason` is a sentence. */
  | { readonly corrected: false; readonly because: 'impossible'; readonly reason: string };

interface CorrectionsDeps {
  readonly pool: Pool;
  readonly lanes: Pick<LaneStore, 'refund'>;
  readonly clock: Clock;
  /** Writes what is settled and not yet in the ledger. */
  readonly write: () => Promise<void>;
  /** The published price of a model at a time, epoch milliseconds. */
  readonly priceOf: (model: string, at: number) => Price | undefined;
}

export interface CorrectionWish {
  /** What was really used, all of it. */
  readonly usage: ReceiptUsage;
  /** Stands in the correction's receipt, which is public to whoever knows its id. */
  readonly reason: string;
  /** Written with the correction, in its transaction: who asked for it. */
  readonly alongside?: (db: Queryable, correction: MadeCorrection) => Promise<void>;
}

type Claim = Readonly<RowOf<typeof Correction>>;

/**
 * Puts right what a settled request was charged, once: more or less, on the lanes and ledger accounts it was charged to, in its own month. As
 * with refunds the wish is written down first, with all that it comes to; then the lanes are told the difference and journal it, and the
 * ledger's writer books it.
 */
export class Corrections {
  readonly #deps: CorrectionsDeps;

  constructor(deps: CorrectionsDeps) {
    this.#deps = deps;
  }

  async correct(requestId: string, wish: CorrectionWish): Promise<CorrectionOutcome> {
    const settled = (await findSettled(this.#deps.pool, requestId, null)) ?? (await this.#findWritten(requestId));
    if (!settled) return { corrected: false, because: await whyMissing(this.#deps.pool, requestId) };
    if (ranNoModel(settled.outcome)) return { corrected: false, because: 'uncharged' };
    const claimed = await this.#claim(settled, wish);
    if ('because' in claimed) return claimed;
    return this.#tell(settled, claimed);
  }

  /** Ends what a process had begun when it died. To be called once the ledger has all that was in the journal. Returns how many. */
  async resume(): Promise<number> {
    const open = tables.selectFrom('corrections').selectAll().where('posted_at', 'is', null).orderBy('requested_at');
    const rows = await rowsOf(this.#deps.pool, open);
    for (const claim of rows) {
      const settled = await findSettled(this.#deps.pool, claim.request_id, claim.attempt);
      if (settled) await this.#tell(settled, claim);
    }
    return rows.length;
  }

  /** Two that ask at once have one claim between them, and the lanes tell which of them was first. */
  async #tell(settled: PricedRow, claim: Claim): Promise<CorrectionOutcome> {
    const corrected = claim.posted_at === null && (await this.#deps.lanes.refund(laneDifference(settled, claim)));
    return { corrected, correction: madeCorrection(settled, claim) };
  }

  async #findWritten(requestId: string): Promise<PricedRow | undefined> {
    await this.#deps.write();
    return findSettled(this.#deps.pool, requestId, null);
  }

  #claim(settled: PricedRow, wish: CorrectionWish): Promise<Claim | Extract<CorrectionOutcome, { because: string }>> {
    const { pool, clock, priceOf } = this.#deps;
    const of = [settled.request_id, settled.attempt];
    const wanted = canonicalJson(withoutZeros(wish.usage));
    return inTransaction(pool, async (client) => {
      await lockSettled(client, settled);
      const ofIt = tables.selectFrom('corrections').selectAll().where('request_id', '=', settled.request_id);
      const known = await firstOf(client, ofIt.where('attempt', '=', settled.attempt));
      if (known) return canonicalJson(usageOfRow(known)) === wanted ? known : { corrected: false, because: 'corrected' };
      const refunds = await client.query('select from refunds where request_id = $1 and attempt = $2', of);
      if (refunds.rowCount !== 0) return { corrected: false, because: 'refunded' };
      if (canonicalJson(usageOfRow(settled)) === wanted) return { corrected: false, because: 'same' };

      const repriced = reprice(settled, wish.usage, priceOf(settled.model_served, settled.started_at.getTime()));
      if (!repriced.repriced) return { corrected: false, because: 'impossible', reason: repriced.reason };
      if (repriced.cost > settled.held_nano && repriced.cost > settled.cost_nano)
        return { corrected: false, because: 'impossible', reason: BEYOND_HOLD };
      if (settled.waived_nano > 0n && repriced.cost > settled.cost_nano) return { corrected: false, because: 'impossible', reason: WAIVED };
      const { charged, debt, covered } = paymentOf(settled, repriced.cost, wish.usage);
      const row = {
        ...{ correction_id: newId(), receipt_id: newReceiptId(), request_id: settled.request_id, attempt: settled.attempt },
        ...{ account_id: settled.account_id, reason: wish.reason, requested_at: new Date(clock.now()), ...countsOf(wish.usage) },
        ...{ price_tier: repriced.priceTier, unit_prices: repriced.unitPrices, cost_nano: `${repriced.cost}` },
        ...{ charged_nano: `${charged}`, debt_nano: `${debt}`, covered: writtenUnits(covered) },
      };
      const written = sql`select * from json_populate_record(null::corrections, ${JSON.stringify(row)})`;
      const claim = await firstOf(client, tables.insertInto('corrections').expression(written).returningAll());
      if (!claim) throw new Error(`The correction of ${settled.request_id} was not written`);
      await wish.alongside?.(client, madeCorrection(settled, claim));
      return claim;
    });
  }
}

/** The promise of its answer would be broken. */
const BEYOND_HOLD = 'It would cost more than was held for it, which is the most that its answer was promised to cost.';

/** It would be charged beyond the cap that it did not fit. */
const WAIVED = 'A part of its cost was waived, since it no longer fitted a cap: it can be corrected to what it costs now, or less.';

/** To the lanes it is a refund of what it comes to less; of less than nothing where it comes to more. */
function laneDifference(settled: PricedRow, claim: Claim): Refund {
  const record = recordOfRow(settled);
  const isTest = settled.funding === 'test';
  const [before, now] = [unitsCovered(settled.covered), unitsCovered(claim.covered)];
  const meters = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return {
    refundId: claim.correction_id,
    accountId: record.accountId,
    ...lanesOfRecord(record),
    cost: settled.cost_nano - claim.cost_nano,
    // In test mode nobody pays, but a lane counts as if somebody did.
    charged: isTest ? settled.cost_nano - claim.cost_nano : settled.charged_nano - claim.charged_nano,
    covered: Object.fromEntries(meters.map((meter) => [meter, (before[meter] ?? 0n) - (now[meter] ?? 0n)])),
    record: JSON.stringify(correctionRecord(settled, claim)),
  };
}

function correctionRecord(settled: PricedRow, claim: Claim): CorrectionRecord {
  return {
    ...recordOfRow(settled),
    ...{ priceTier: claim.price_tier, unitPrices: claim.unit_prices, estimated: false },
    ...reckoningOf(claim),
    kind: 'correction',
    correctionId: claim.correction_id,
    correctionReceiptId: claim.receipt_id,
    reason: claim.reason,
    correctedAt: claim.requested_at.getTime(),
    was: { ...reckoningOf(settled), ...(settled.waived_nano > 0n && { waived: `${settled.waived_nano}` }) },
  };
}

const reckoningOf = (row: Claim | PricedRow): Repricing => ({
  usage: usageOfRow(row),
  cost: `${row.cost_nano}`,
  charged: `${row.charged_nano}`,
  debt: `${row.debt_nano}`,
  covered: row.covered,
});

const unitsCovered = (covered: Readonly<Record<string, string>>): Units =>
  Object.fromEntries(Object.entries(covered).map(([meter, units]) => [meter, BigInt(units)]));
const writtenUnits = (covered: Units) => Object.fromEntries(Object.entries(covered).map(([meter, units]) => [meter, `${units}`]));

const madeCorrection = (settled: PricedRow, claim: Claim): MadeCorrection => ({
  correctionId: claim.correction_id,
  receiptId: claim.receipt_id,
  corrects: settled.receipt_id,
  accountId: settled.account_id,
  requestId: settled.request_id,
  reason: claim.reason,
  correctedAt: claim.requested_at.getTime(),
  usage: usageOfRow(claim),
  now: { cost: claim.cost_nano, charged: claim.charged_nano },
  before: { cost: settled.cost_nano, charged: settled.charged_nano },
});
