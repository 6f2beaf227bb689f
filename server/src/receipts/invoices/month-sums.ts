import type { ReceiptPayload } from '@tallygate/contract';
import { type BookSums, QUOTA_METERS } from '@tallygate/receipts';
import { type Month, monthEnd, monthStart } from '../../kernel/clock.ts';
import { anyOf, ifGiven, type Queryable, rowsOf } from '../../kernel/statements.ts';
import type { ReceiptScope } from '../list-receipts.ts';
import { payloadOf, UNPACKED_COLUMNS } from '../packed-receipt.ts';
import { afterReceipt, receiptsIn } from '../stored-receipt.ts';

/** Both included. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

/** What the receipts of a month with these numbers come to, and the plans that they name. */
export interface MonthSums extends BookSums {
  readonly plans: readonly string[];
}

/** Receipts that are read together: unpacked between two turns of the event loop. */
const AT_ONCE = 200;

/**
 * From the receipts themselves: a correction counts as the difference from the receipt in whose place it is.
 *
 * @throws where receipts of the range are not in the database: an invoice counts what it has seen
 */
export async function monthSums(db: Queryable, scope: ReceiptScope, month: Month, range: NumberRange): Promise<MonthSums> {
  const sums = { charges: 0, corrections: 0, refunds: 0, used: 0n, corrected: 0n, refunded: 0n, fromBalance: 0n, byInvoice: 0n };
  const covered = { requests: 0n, tokens: 0n, images: 0n, audio_seconds: 0n, video_seconds: 0n };
  const plans = new Set<string>();
  const pay = ({ payment: { funding, charged_nano_usd: charged, covered: units } }: ReceiptPayload, sign: 1n | -1n): void => {
    sums[funding === 'invoice' ? 'byInvoice' : 'fromBalance'] += sign * BigInt(charged);
    for (const meter of QUOTA_METERS) covered[meter] += sign * BigInt(units[meter] ?? 0);
  };
  let count = 0;
  for await (const receipts of receiptsOf(db, scope, month, range)) {
    const corrected = await receiptsById(db, receipts);
    for (const said of receipts) {
      const [counted, costed] = FIGURES[said.kind] ?? (['charges', 'used'] as const);
      const was = said.kind === 'correction' ? corrected.get(said.refund_of ?? '') : undefined;
      count += 1;
      sums[counted] += 1;
      sums[costed] += BigInt(said.cost_nano_usd) - BigInt(was?.cost_nano_usd ?? 0);
      pay(said, said.kind === 'refund' ? -1n : 1n);
      if (was) pay(was, -1n);
      if (said.payment.plan !== null) plans.add(said.payment.plan);
    }
  }
  if (count !== range.last - range.first + 1)
    throw new Error(`${month} has ${count} receipts with the numbers ${range.first} to ${range.last} in the database`);
  return { ...sums, covered, plans: [...plans].sort() };
}

const FIGURES: Readonly<Record<string, readonly ['corrections', 'corrected'] | readonly ['refunds', 'refunded']>> = {
  correction: ['corrections', 'corrected'],
  refund: ['refunds', 'refunded'],
};

async function* receiptsOf(
  db: Queryable,
  { accountId, livemode }: ReceiptScope,
  month: Month,
  { first, last }: NumberRange,
): AsyncGenerator<ReceiptPayload[]> {
  let after: string | undefined;
  do {
    const rows = await rowsOf(
      db,
      receiptsIn()
        .select(UNPACKED_COLUMNS)
        .where('account_id', '=', accountId)
        .where('livemode', '=', livemode)
        .where('started_at', '>=', monthStart(month))
        .where('started_at', '<', monthEnd(month))
        .where('account_sequence', '>=', first)
        .where('account_sequence', '<=', last)
        .where(() => ifGiven(after, afterReceipt))
        .orderBy('started_at')
        .orderBy('receipt_id')
        .limit(AT_ONCE),
    );
    yield rows.map(saidBy);
    after = rows.length < AT_ONCE ? undefined : rows.at(-1)?.receipt_id;
  } while (after !== undefined);
}

/** Those that corrections among these take the place of. */
async function receiptsById(db: Queryable, receipts: readonly ReceiptPayload[]): Promise<ReadonlyMap<string, ReceiptPayload>> {
  const ids = receipts.flatMap(({ kind, refund_of: of }) => (kind === 'correction' && of !== null ? [of] : []));
  if (ids.length === 0) return new Map();
  const rows = await rowsOf(db, receiptsIn().select(UNPACKED_COLUMNS).where('receipt_id', '=', anyOf(ids)));
  return new Map(rows.map((row) => [row.receipt_id, saidBy(row)]));
}

const saidBy = (row: Parameters<typeof payloadOf>[0]): ReceiptPayload => JSON.parse(payloadOf(row)) as ReceiptPayload;
