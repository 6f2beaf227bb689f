import type { ReceiptList, ReceiptListItem, ReceiptPayload } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Archive } from '../archive/index.ts';
import { monthEnd, monthStart } from '../kernel/clock.ts';
import { invalidInput } from '../kernel/invalid-input.ts';
import { formatUsd } from '../kernel/money.ts';
import { type ListedRow, pageOf } from './archived-list.ts';
import { type StoredReceipt, storedReceipt } from './stored-receipt.ts';

/** Whose receipts: live and test ones are apart. */
export interface ReceiptScope {
  readonly accountId: string;
  readonly livemode: boolean;
}

interface Wanted {
  /** Of the requests, as invoices count them. */
  readonly month?: string | undefined;
  readonly kind?: string | undefined;
  readonly model?: string | undefined;
  readonly run_id?: string | undefined;
  readonly key_id?: string | undefined;
  /** An entry of the log: only what stands after it, in its order. */
  readonly logged_after?: number | undefined;
  /** The receipt after which the page begins. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The newest requests first, or in the order of the log. @throws Problem `validation_failed` where `after` is no receipt of the list's account */
export async function listReceipts(
  pool: Pool,
  archive: Archive,
  { accountId, livemode }: ReceiptScope,
  wanted: Wanted,
): Promise<ReceiptList> {
  const { month, kind, model, run_id: runId, key_id: keyId, logged_after: loggedAfter, after, limit } = wanted;
  const place = after === undefined ? undefined : await placeOf(pool, archive, { accountId, livemode }, after);
  const values: unknown[] = [accountId, livemode];
  const where = (condition: (at: string) => string, value: unknown): string[] => {
    if (value === undefined) return [];
    values.push(value);
    return [condition(`$${values.length}`)];
  };
  const conditions = [
    ...where((at) => `started_at >= ${at}`, month && monthStart(month)),
    ...where((at) => `started_at < ${at}`, month && monthEnd(month)),
    ...where((at) => `kind = ${at}`, kind),
    ...where((at) => `model = ${at}`, model),
    ...where((at) => `run_id = ${at}`, runId),
    ...where(
      (at) => `exists (select from usage_records u where u.request_id = receipts.request_id and u.account_id = $1 and u.key_id = ${at})`,
      keyId,
    ),
    ...where((at) => `log_index > ${at}`, loggedAfter),
    ...(loggedAfter === undefined
      ? where(
          (at) => `(started_at, receipt_id) < (((${at}::text[])[1])::timestamptz, ((${at}::text[])[2])::uuid)`,
          place && [place.started, after],
        )
      : where((at) => `log_index > ${at}`, place?.log_index)),
  ];
  const order = loggedAfter === undefined ? 'started_at desc, receipt_id desc' : 'log_index';
  const condition = ['account_id = $1', 'livemode = $2', ...conditions].join(' and ');
  const rows = await pageOf(
    archive,
    async (source, ...more) => {
      const found = await pool.query<ListedRow>(
        `select receipt_id, payload, log_index, started_at from ${source} where ${condition} order by ${order} limit ${limit + 1}`,
        [...values, ...more],
      );
      return found.rows;
    },
    {
      ...{ accountId, limit, free: `$${values.length + 1}`, isByKey: keyId !== undefined },
      from: month === undefined ? undefined : monthStart(month),
      to: (loggedAfter === undefined ? place?.started_at : undefined) ?? (month === undefined ? undefined : monthEnd(month)),
      after: loggedAfter === undefined ? undefined : (place?.log_index ?? BigInt(loggedAfter)),
    },
  );
  const data = rows.slice(0, limit).map(itemOf);
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: rows.length > limit };
}

async function placeOf(pool: Pool, archive: Archive, { accountId, livemode }: ReceiptScope, after: string): Promise<StoredReceipt> {
  const row = await storedReceipt(pool, archive, after);
  if (row?.account_id !== accountId || row.livemode !== livemode)
    throw invalidInput([{ loc: ['query', 'after'], msg: 'must be the id of a receipt of this list', type: 'invalid' }]);
  return row;
}

function itemOf({ payload, log_index: index }: ListedRow): ReceiptListItem {
  const said = JSON.parse(payload) as ReceiptPayload;
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
