import { type SqlBool, sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { type RowOf, rowsOf } from '../../kernel/statements.ts';
import type { LogDocument as Document } from '../entities.ts';
import { invoiceDigestOf } from '../invoices/issue-invoice.ts';
import { isSealed, sealOf } from '../seal.ts';
import { tables } from '../tables.ts';
import type { Entries } from './receipts-at.ts';

const COLUMNS = ['document_id', 'kind', 'payload', 'digest', 'seal'] as const;
/** What the log takes in beside receipts, as it is stored. */
export type LogDocument = Readonly<Pick<RowOf<typeof Document>, (typeof COLUMNS)[number]>>;

/** SQL: a document has no place in the log and is to get one. */
export const WAITS = 'log_index is null and set_aside_at is null';
/** Documents that one transaction takes in. */
const AT_ONCE = 1_000;

/** By its kind: documents of one kind never pass for those of another. */
const digestOf = ({ kind, payload }: Pick<LogDocument, 'kind' | 'payload'>): Buffer => {
  switch (kind) {
    case 'invoice':
      return invoiceDigestOf(payload);
    default:
      throw new Error(`The log has no documents of kind ${String(kind satisfies never)}`);
  }
};

export async function waitingDocuments(client: PoolClient): Promise<LogDocument[]> {
  const documents = tables
    .selectFrom('log_documents')
    .select(COLUMNS)
    .where(sql<SqlBool>`${sql.raw(WAITS)}`);
  return rowsOf(client, documents.orderBy('document_id').limit(AT_ONCE));
}

/** The digest is of the text, the text names the document, and the gateway has sealed it; the others are refused, by their ids. */
export function sortDocuments(documents: readonly LogDocument[], sealKeys: readonly Buffer[]) {
  const isAsWritten = (one: LogDocument) =>
    isSealed(sealKeys, one.digest, one.seal) && digestOf(one).equals(one.digest) && one.payload.includes(`_id":"${one.document_id}"`);
  return {
    taken: documents.filter(isAsWritten),
    refused: documents.filter((one) => !isAsWritten(one)).map(({ document_id: id }) => id),
  };
}

export async function setDocumentsAside(client: PoolClient, ids: readonly string[], clock: Clock): Promise<void> {
  if (ids.length === 0) return;
  await client.query('update log_documents set set_aside_at = $2 where document_id = any($1)', [ids, new Date(clock.now())]);
}

/** What a person makes of those that were set aside. @returns their ids */
export async function decideDocuments(client: PoolClient, sealKey: Buffer, decision: 'accept' | 'forget'): Promise<string[]> {
  const aside = tables.selectFrom('log_documents').select(['document_id', 'digest']).where('set_aside_at', 'is not', null);
  const rows = await rowsOf(client, aside);
  const ids = rows.map(({ document_id: id }) => id);
  if (decision === 'forget') {
    await client.query('delete from signed_invoices where invoice_id = any($1)', [ids]);
    await client.query('delete from log_documents where document_id = any($1)', [ids]);
  } else
    for (const { document_id: id, digest } of rows)
      await client.query('update log_documents set set_aside_at = null, seal = $2 where document_id = $1', [id, sealOf(sealKey, digest)]);
  return ids;
}

/** Gives them their places, from `first` on. */
export async function placeDocuments(client: PoolClient, documents: readonly LogDocument[], first: number): Promise<void> {
  if (documents.length === 0) return;
  await client.query(
    `update log_documents set log_index = $2 + place - 1, seal = null
       from unnest($1::uuid[]) with ordinality as placed (id, place) where document_id = placed.id`,
    [documents.map(({ document_id: id }) => id), first],
  );
}

export interface PlacedDocument extends LogDocument {
  /** The digest of what it says now. */
  readonly now: Buffer;
}

/** By their places in the log. */
export async function documentsAt(pool: Pool, { start, end }: Entries): Promise<Map<number, PlacedDocument>> {
  const placed = tables
    .selectFrom('log_documents')
    .select([...COLUMNS, 'log_index'])
    .where('log_index', '>=', BigInt(start))
    .where('log_index', '<', BigInt(end));
  const rows = await rowsOf(pool, placed);
  return new Map(rows.map(({ log_index: index, ...one }) => [Number(index), { ...one, now: digestOf(one) }]));
}
