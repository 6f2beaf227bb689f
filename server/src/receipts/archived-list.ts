import { type Archive, type ArchivedPiece, RECEIPTS } from '../archive/index.ts';
import { invalidInput } from '../kernel/invalid-input.ts';
import type { Keyed } from '../kernel/page.ts';
import { UNPACKED_COLUMNS } from './packed-receipt.ts';
import type { ReceiptRow } from './stored-receipt.ts';

/** A receipt of a page. */
export type ListedRow = Keyed & Omit<ReceiptRow, 'digest' | 'started_at'> & { readonly started_at: Date };
export const LISTED = [...UNPACKED_COLUMNS.filter((name) => name !== 'started_at'), 'log_index'] as const;

/** The first rows of a list, in its order, one more than a page has. @param archived rows of the archive to choose from, as JSON */
export type ReadPage = (archived?: string) => Promise<ListedRow[]>;

interface Page {
  readonly accountId: string;
  readonly from: Date | undefined;
  /** Before which, and at which, the requests of the page have started. */
  readonly to: Date | undefined;
  /** Of a list in the order of the log: after which place the page begins. */
  readonly after: bigint | undefined;
  readonly limit: number;
  /** The filter that usage records answer. */
  readonly byRecord: string | undefined;
  /** Of some projects and of one person: receipts do not name them, and the usage records that do are archived with them. */
  readonly isOfSome: boolean;
}

/**
 * A page of receipts from the database and from the archive, of which no more is read than what may hold rows of the page.
 *
 * @throws Problem `validation_failed` for what usage records say and receipts do not, such as the API key: these records are archived with them
 */
export async function pageOf(archive: Archive, read: ReadPage, page: Page): Promise<ListedRow[]> {
  const { limit, after } = page;
  const isOfLog = after !== undefined;
  const compare = isOfLog ? byPlace : newestFirst;
  let rows = await read();
  if (page.isOfSome) return rows;
  for (const piece of await piecesOf(archive, page)) {
    const last = rows[limit];
    if (last && comesAfter(piece, last, isOfLog)) break;
    if (page.byRecord !== undefined) throw byRecord(piece, page.byRecord);
    const json = await archive.rows(piece, { name: 'account_id', value: page.accountId });
    if (json === undefined) continue;
    const found = new Map([...rows, ...(await read(json))].map((row) => [row.receipt_id, row]));
    rows = [...found.values()].toSorted(compare).slice(0, limit + 1);
  }
  return rows;
}

/** In the order of the list. */
async function piecesOf(archive: Archive, { accountId, from, to, after }: Page): Promise<ArchivedPiece[]> {
  const pieces = await archive.pieces(RECEIPTS, { accountId, from, to });
  if (after === undefined) return pieces;
  return pieces.filter(({ log_to: last }) => last !== null && last > after).toSorted((one, other) => Number(placeOf(one) - placeOf(other)));
}

const placeOf = ({ log_from: place }: ArchivedPiece): bigint => place ?? 0n;

/** Whether nothing of a piece, nor of those behind it, comes before a row. */
const comesAfter = (piece: ArchivedPiece, row: ListedRow, isOfLog: boolean): boolean =>
  isOfLog ? placeOf(piece) > (row.log_index ?? 0n) : piece.started_to < row.started_at;

const byPlace = (one: ListedRow, other: ListedRow): number => Number((one.log_index ?? 0n) - (other.log_index ?? 0n));

const newestFirst = (one: ListedRow, other: ListedRow): number =>
  other.started_at.getTime() - one.started_at.getTime() || (one.receipt_id < other.receipt_id ? 1 : -1);

const byRecord = ({ month }: ArchivedPiece, filter: string) =>
  invalidInput([
    {
      loc: ['query', filter],
      msg: `receipts of ${month} and before are archived, where they are not found by ${filter}`,
      type: 'archived',
    },
  ]);
