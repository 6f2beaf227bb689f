import { newId } from '../../kernel/ids.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import type { Queryable } from '../../kernel/statements.ts';
import type { LedgerEntry } from './postings.ts';

/** Money that moves for another reason than a request: a payment, its refund, a dispute, an invoice. */
export interface MoneyPosting {
  /** Booked once: a second posting of the same cause is refused by the database. `attempt` counts the postings of one cause. */
  readonly cause: { readonly kind: string; readonly id: string; readonly attempt: number };
  /** UTC day in whose sums it counts, `YYYY-MM-DD`. */
  readonly day: string;
  /** Sum to zero; zeros are left out. */
  readonly entries: readonly LedgerEntry[];
  /** What it adds to (or takes from) what is credited to an account's balance. */
  readonly credit?: { readonly accountId: string; readonly amount: NanoUsd };
}

/** Books money in the transaction of its cause. Once that is committed, the lane has to read its credit anew. */
export async function bookMoney(db: Queryable, { cause, day, entries, credit }: MoneyPosting): Promise<void> {
  const moved = entries.filter(({ amount }) => amount !== 0n);
  if (moved.length === 0) return;
  const postingId = newId();
  const rows = JSON.stringify(moved.map(({ account, amount }) => ({ posting_id: postingId, account, amount_nano: amount.toString() })));
  await db.query('insert into postings (posting_id, kind, request_id, attempt, livemode, day) values ($1, $2, $3, $4, true, $5)', [
    postingId,
    cause.kind,
    cause.id,
    cause.attempt,
    day,
  ]);
  await db.query('insert into ledger_entries select * from json_populate_recordset(null::ledger_entries, $1)', [rows]);
  await db.query(
    `insert into ledger_daily select account, $1::date, amount_nano from json_populate_recordset(null::ledger_entries, $2) order by account
     on conflict (account, day) do update set amount_nano = ledger_daily.amount_nano + excluded.amount_nano`,
    [day, rows],
  );
  if (credit && credit.amount !== 0n)
    await db.query('insert into balance_credits (posting_id, account_id, amount_nano) values ($1, $2, $3)', [
      postingId,
      credit.accountId,
      credit.amount.toString(),
    ]);
}
