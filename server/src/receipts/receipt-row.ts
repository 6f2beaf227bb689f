import type { ReceiptLog, ReceiptPayload, ReceiptResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import { declaredPrices, inclusionPaths } from './log/declarations.ts';
import type { SignedState } from './log/read-log.ts';
import { payloadOf } from './packed-receipt.ts';
import { signReceipt } from './sign-receipt.ts';
import type { SigningKey } from './signing-keys.ts';
import type { ReceiptRow } from './stored-receipt.ts';

interface Proving {
  readonly pool: Pool;
  /** The one in force. */
  readonly key: SigningKey;
  /** Indexes of prices that the reader has by now: in an export, the first receipt of each carries it. */
  readonly shown?: Set<number>;
}

/**
 * Receipts, signed now, with their proofs and those of their prices against one state of the log, whose nodes are read in one query. What came
 * after that state is pending.
 */
export async function provenReceipts(
  { pool, key, shown = new Set() }: Proving,
  rows: readonly ReceiptRow[],
  state: SignedState | undefined,
): Promise<ReceiptResponse[]> {
  const size = state?.size ?? 0;
  const texts = rows.map(payloadOf);
  const payloads = texts.map((text) => JSON.parse(text) as ReceiptPayload);
  const isLogged = ({ log_index: index }: ReceiptRow): boolean => index !== null && index < size;
  const carriers = new Map<number, ReceiptRow>();
  for (const [at, row] of rows.entries()) {
    const price = payloads[at]?.price_entry?.index;
    if (price !== undefined && isLogged(row) && !shown.has(price) && !carriers.has(price)) carriers.set(price, row);
  }
  for (const index of carriers.keys()) shown.add(index);
  const declared = await declaredPrices(pool, [...carriers.keys()]);
  const indexes = [...rows.filter(isLogged).map(({ log_index: index }) => Number(index)), ...declared.keys()];
  const found = await inclusionPaths(pool, indexes, size);
  const paths = new Map(indexes.map((index, at) => [index, found[at] ?? []]));
  const logOf = (row: ReceiptRow): ReceiptLog => {
    if (!state || !isLogged(row)) return { state: 'pending' };
    const index = Number(row.log_index);
    return { state: 'logged', index, tree_size: size, inclusion_path: paths.get(index) ?? [], checkpoint: state.note };
  };
  const priceOf = (row: ReceiptRow, index: number | undefined): ReceiptResponse['price'] => {
    const declaration = index === undefined || carriers.get(index) !== row ? undefined : declared.get(index);
    return declaration && index !== undefined ? { declaration, inclusion_path: paths.get(index) ?? [] } : null;
  };
  return Promise.all(
    rows.map(async (row, at) => {
      const payload = payloads[at];
      if (!payload) throw new Error(`${row.receipt_id} has no payload`);
      return {
        object: 'receipt' as const,
        id: row.receipt_id,
        payload,
        digest: row.digest.toString('hex'),
        jws: await signReceipt(texts[at] ?? '', key),
        log: logOf(row),
        price: priceOf(row, payload.price_entry?.index),
        anchor: null,
      };
    }),
  );
}
