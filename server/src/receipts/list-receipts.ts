import type { ReceiptList, ReceiptListItem, ReceiptPayload } from '@tallygate/contract';
import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Archive } from '../archive/index.ts';
import type { Seen } from '../http/index.ts';
import { monthEnd, monthStart } from '../kernel/clock.ts';
import { formatUsd } from '../kernel/money.ts';
import { type Keyed, Keyset, mapPage, type PageQuery } from '../kernel/page.ts';
import { ifGiven, rowsOf } from '../kernel/statements.ts';
import { LISTED, type ListedRow, pageOf } from './archived-list.ts';
import { payloadOf } from './packed-receipt.ts';
import { receiptsIn } from './stored-receipt.ts';

/** Whose receipts: live and test ones are apart. */
export interface ReceiptScope {
  readonly accountId: string;
  readonly livemode: boolean;
  /** What the caller sees; undefined: all of the account. */
  readonly seen?: Seen | undefined;
}

interface Wanted extends PageQuery {
  /** Of the requests, as invoices count them. */
  readonly month?: string | undefined;
  readonly kind?: string | undefined;
  readonly model?: string | undefined;
  readonly run_id?: string | undefined;
  readonly key_id?: string | undefined;
  /** An entry of the log: only what stands after it, in its order. */
  readonly logged_after?: number | undefined;
}

const BY_START = new Keyset({ name: 'receipts', columns: { started_at: 'time', receipt_id: 'uuid' }, direction: 'desc' });
const BY_LOG = new Keyset({ name: 'logged_receipts', columns: { log_index: 'integer' }, direction: 'asc' });

/** The newest requests first, or in the order of the log. @throws Problem `validation_failed` for a cursor of another list */
export async function listReceipts(
  pool: Pool,
  archive: Archive,
  { accountId, livemode, seen }: ReceiptScope,
  wanted: Wanted,
): Promise<ReceiptList> {
  const { month, kind, model, run_id: runId, key_id: keyId, logged_after: loggedAfter, limit } = wanted;
  const list = loggedAfter === undefined ? BY_START : BY_LOG;
  const place = list.cursorKey(wanted.cursor);
  const read = (archived?: string) => {
    const receipts = receiptsIn(archived)
      .select((eb) => [...LISTED, eb.ref('started_at').$notNull().as('started_at')] as const)
      .where('account_id', '=', accountId)
      .where('livemode', '=', livemode)
      .where((eb) => ifGiven(month, (of) => eb('started_at', '>=', monthStart(of))))
      .where((eb) => ifGiven(month, (of) => eb('started_at', '<', monthEnd(of))))
      .where((eb) => ifGiven(kind, (one) => eb('kind', '=', one)))
      .where((eb) => ifGiven(model, (name) => eb('model', '=', name)))
      .where((eb) => ifGiven(runId, (run) => eb('run_id', '=', run)))
      .where(() => ifGiven(seen, (mine) => ofRequestsOf(accountId, mine)))
      .where(() => ifGiven(keyId, (key) => madeWith(accountId, key)))
      .where((eb) => ifGiven(loggedAfter, (index) => eb('log_index', '>', BigInt(index))));
    return rowsOf(pool, list.pageIn(receipts, wanted));
  };
  const rows = await pageOf(archive, read, {
    ...{ accountId, limit, isByKey: keyId !== undefined, isOfSome: seen !== undefined },
    from: month === undefined ? undefined : monthStart(month),
    to: (list === BY_START ? timeOf(place) : undefined) ?? (month === undefined ? undefined : monthEnd(month)),
    after: loggedAfter === undefined ? undefined : BigInt(place?.[0] ?? loggedAfter),
  });
  return mapPage(list.page(rows, wanted), itemOf);
}

/** At or after the moment of a cursor, which has microseconds. */
const timeOf = (place: readonly string[] | null): Date | undefined => (place ? new Date(Math.ceil(Number(place[0]) / 1000)) : undefined);

/** The key of a request is told by its usage record. */
const madeWith = (accountId: string, keyId: string) =>
  sql<SqlBool>`exists (select from usage_records u where u.request_id = receipts.request_id and u.account_id = ${accountId} and u.key_id = ${keyId})`;

/** So is whose request it was. */
const ofRequestsOf = (accountId: string, { userId, projects }: Seen) =>
  sql<SqlBool>`exists (select from usage_records u where u.request_id = receipts.request_id and u.account_id = ${accountId}
    and (u.user_id = ${userId} or u.project_id = any(${[...projects]}::uuid[])))`;

function itemOf({ log_index: index, ...row }: Omit<ListedRow, keyof Keyed>): ReceiptListItem {
  const said = JSON.parse(payloadOf(row)) as ReceiptPayload;
  return {
    object: 'receipt.item',
    id: said.receipt_id,
    kind: said.kind,
    request_id: said.request_id,
    endpoint: said.endpoint,
    model: said.model_served,
    run_id: said.run_id,
    livemode: said.livemode,
    outcome: said.outcome,
    cost_usd: formatUsd(BigInt(said.cost_nano_usd)),
    refund_of: said.refund_of,
    started_at: said.started_at,
    completed_at: said.completed_at,
    log_index: index === null ? null : Number(index),
  };
}
