import type { ReceiptList, ReceiptListItem, ReceiptPayload } from '@tallygate/contract';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Archive } from '../archive/index.ts';
import type { Seen } from '../http/index.ts';
import { monthEnd, monthStart } from '../kernel/clock.ts';
import { formatUsd, parseUsd } from '../kernel/money.ts';
import { type Keyed, Keyset, mapPage, type PageQuery } from '../kernel/page.ts';
import { searchesOf } from '../kernel/searches.ts';
import { ifGiven, type Queryable, rowsOf } from '../kernel/statements.ts';
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
  readonly outcome?: ReceiptPayload['outcome'] | undefined;
  readonly end_user?: string | undefined;
  /** USD, as settled. */
  readonly min_cost_usd?: string | undefined;
  readonly max_cost_usd?: string | undefined;
  /** RFC 3339; of the requests' start. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** An entry of the log: only what stands after it, in its order. */
  readonly logged_after?: number | undefined;
}

const BY_START = new Keyset({ name: 'receipts', columns: { started_at: 'time', receipt_id: 'uuid' }, direction: 'desc' });
const BY_LOG = new Keyset({ name: 'logged_receipts', columns: { log_index: 'integer' }, direction: 'asc' });

/**
 * The newest requests first, or in the order of the log.
 * @throws Problem `validation_failed` for a cursor of another list, and for a search that takes too long; `rate_limited` for too many at once
 */
export async function listReceipts(
  pool: Pool,
  archive: Archive,
  { accountId, livemode, seen }: ReceiptScope,
  wanted: Wanted,
): Promise<ReceiptList> {
  const { kind, model, run_id: runId, outcome, logged_after: loggedAfter, limit } = wanted;
  const { from, to } = spanOf(wanted);
  const ofRecord = conditionsOfRecord(wanted);
  // Without these, the order of the list finds its page at once.
  const isSearch = seen !== undefined || ofRecord.length > 0 || [kind, model, runId, outcome].some((filter) => filter !== undefined);
  const list = loggedAfter === undefined ? BY_START : BY_LOG;
  const place = list.cursorKey(wanted.cursor);
  const read = (archived?: string) => {
    const receipts = receiptsIn(archived)
      .select((eb) => [...LISTED, eb.ref('started_at').$notNull().as('started_at')] as const)
      .where('account_id', '=', accountId)
      .where('livemode', '=', livemode)
      .where((eb) => ifGiven(from, (at) => eb('started_at', '>=', at)))
      .where((eb) => ifGiven(to, (at) => eb('started_at', '<', at)))
      .where((eb) => ifGiven(kind, (one) => eb('kind', '=', one)))
      // The record of a request that was refunded says how it had ended.
      .where((eb) => ifGiven(outcome, (one) => eb('kind', one === 'refunded' ? '=' : '<>', 'refund')))
      .where((eb) => ifGiven(model, (name) => eb('model', '=', name)))
      .where((eb) => ifGiven(runId, (run) => eb('run_id', '=', run)))
      .where(() => ifGiven(seen, (mine) => ofRequestsOf(accountId, mine)))
      .where(() => (ofRecord.length === 0 ? sql<SqlBool>`true` : hasRecord(accountId, ofRecord)))
      .where((eb) => ifGiven(loggedAfter, (index) => eb('log_index', '>', BigInt(index))));
    const rows = (db: Queryable) => rowsOf(db, list.pageIn(receipts, wanted));
    return isSearch ? searchesOf(pool).run(accountId, rows) : rows(pool);
  };
  const rows = await pageOf(archive, read, {
    ...{ accountId, limit, byRecord: ofRecord[0]?.name, isOfSome: seen !== undefined, from },
    to: (list === BY_START ? timeOf(place) : undefined) ?? to,
    after: loggedAfter === undefined ? undefined : BigInt(place?.[0] ?? loggedAfter),
  });
  return mapPage(list.page(rows, wanted), itemOf);
}

/** At or after the moment of a cursor, which has microseconds. */
const timeOf = (place: readonly string[] | null): Date | undefined => (place ? new Date(Math.ceil(Number(place[0]) / 1000)) : undefined);

/** Of which time the receipts are: the month and the bounds, whichever are narrower. */
function spanOf({ month, from, to }: Wanted): { readonly from: Date | undefined; readonly to: Date | undefined } {
  const inOrder = (times: readonly (Date | '' | undefined)[]) =>
    times.filter((time) => time instanceof Date).toSorted((one, other) => one.getTime() - other.getTime());
  return {
    from: inOrder([from && new Date(from), month && monthStart(month)]).at(-1),
    to: inOrder([to && new Date(to), month && monthEnd(month)]).at(0),
  };
}

/** A filter that the usage record answers, by its name in the query. */
interface OfRecord {
  readonly name: string;
  readonly condition: RawBuilder<SqlBool>;
}

const conditionsOfRecord = ({
  key_id: key,
  end_user: user,
  outcome,
  min_cost_usd: min,
  max_cost_usd: max,
}: Wanted): readonly OfRecord[] => [
  ...(key === undefined ? [] : [{ name: 'key_id', condition: sql<SqlBool>`u.key_id = ${key}` }]),
  ...(user === undefined ? [] : [{ name: 'end_user', condition: sql<SqlBool>`u.end_user = ${user}` }]),
  ...(outcome === undefined || outcome === 'refunded' ? [] : [{ name: 'outcome', condition: sql<SqlBool>`u.outcome = ${outcome}` }]),
  ...(min === undefined ? [] : [{ name: 'min_cost_usd', condition: sql<SqlBool>`u.cost_nano >= ${parseUsd(min)}` }]),
  ...(max === undefined ? [] : [{ name: 'max_cost_usd', condition: sql<SqlBool>`u.cost_nano <= ${parseUsd(max)}` }]),
];

/** Receipts do not say these of their requests, or say them packed; usage records do. */
const hasRecord = (accountId: string, wanted: readonly OfRecord[]) =>
  sql<SqlBool>`exists (select from usage_records u where u.request_id = receipts.request_id and u.account_id = ${accountId}
    and ${sql.join(
      wanted.map(({ condition }) => condition),
      sql` and `,
    )})`;

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
