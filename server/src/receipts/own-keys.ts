import type { KeyPurpose } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import { rfc3339 } from '../kernel/clock.ts';
import { rowsOf } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { ownRecords, putDown } from './own-records.ts';
import { sealKeyOf } from './seal.ts';
import { promiseKeyOf, publishSigningKeys, type SigningKey } from './signing-keys.ts';
import { tables } from './tables.ts';

/** The keys that this service is configured with. Of those for receipts the first signs, of those for the log every one. */
export interface OwnKeys {
  readonly receipt: readonly SigningKey[];
  readonly checkpoint: readonly SigningKey[];
}

/** The key that signs receipts. @throws where there is none */
export function receiptKeyOf({ receipt: [first] }: OwnKeys): SigningKey {
  if (!first) throw new Error('There is no key that signs receipts');
  return first;
}

/** What seals receipts for the log. @throws where the log has no key */
export function ownSealKey({ checkpoint: [first] }: OwnKeys): Buffer {
  if (!first) throw new Error('There is no key of the log');
  return sealKeyOf(first);
}

/** Those for promises follow from those for receipts, each from one. */
export const keysOf = (own: OwnKeys, purpose: KeyPurpose): readonly SigningKey[] =>
  purpose === 'promise' ? own.receipt.map(promiseKeyOf) : own[purpose];

/** One key for receipts and for the log: no verifier accepts that. */
export class KeyOfTwoPurposes extends Error {
  override readonly name = 'KeyOfTwoPurposes';
}

export interface PublishedKey {
  readonly kid: string;
  readonly purpose: KeyPurpose;
  readonly x: string;
  readonly not_before: Date;
  readonly not_after: Date | null;
}

export const allOf = ({ receipt, checkpoint }: OwnKeys): SigningKey[] => [...receipt, ...checkpoint];

const KEY = 'key ';

/** Whether a record is one that {@link recordOfKey} makes. */
export const isOfKey = (record: string): boolean => record.startsWith(KEY);

/** What the service puts down of a key that it publishes. */
export const recordOfKey = ({ kid, purpose, x, not_before: from, not_after: to }: PublishedKey): string =>
  `${KEY}${kid} ${purpose} ${x} ${rfc3339(from)} ${to ? rfc3339(to) : '-'}`;

export async function readPublishedKeys(db: Pool | PoolClient): Promise<PublishedKey[]> {
  return rowsOf(db, tables.selectFrom('signing_keys').select(['kid', 'purpose', 'x', 'not_before', 'not_after']).orderBy('kid'));
}

/**
 * Publishes the keys, retires those that are left out, and puts down what was published, so that the audit tells the keys that this service
 * has had from those that somebody else wrote into the database. Whatever was put down before is sealed with the keys of now.
 *
 * @throws KeyOfTwoPurposes where one of them is to do both, or was published for the other purpose before
 */
export async function publishOwnKeys(pool: Pool, own: OwnKeys, now: number): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Gateways that start at one time do so one after the other, and no audit looks in between.
    await client.query('select from receipt_log for update');
    await publishIn(client, own, now);
  });
}

async function publishIn(client: PoolClient, own: OwnKeys, now: number): Promise<void> {
  const keys = allOf(own);
  const before = await readPublishedKeys(client);
  refuseTwoPurposes(own, before);
  const records = await ownRecords(client, keys);
  const isRecorded = (kid: string) => records.beginningWith(`${KEY}${kid} `).length > 0;
  // A row that is not as it was put down stays unsealed, for the audit to find.
  const isOurs = (row: PublishedKey) => records.has(recordOfKey(row)) || (isConfigured(row, own) && !isRecorded(row.kid));
  const altered = new Set(before.filter((row) => !isOurs(row)).map(({ kid }) => kid));
  await publishSigningKeys(client, own.receipt, now);
  await publishSigningKeys(client, own.checkpoint, now, 'checkpoint');
  await publishSigningKeys(client, keysOf(own, 'promise'), now, 'promise');
  const published = (await readPublishedKeys(client)).filter(({ kid }) => !altered.has(kid));
  const kept = records.beginningWith('').filter((record) => !isOfKey(record) || altered.has(record.split(' ')[1] ?? ''));
  await client.query('delete from own_records where record like $1 and not split_part(record, $2, 2) = any ($3)', [
    `${KEY}%`,
    ' ',
    [...altered],
  ]);
  await putDown(client, [...published.map(recordOfKey), ...kept], keys);
}

export const isConfigured = ({ kid, purpose, x }: PublishedKey, own: OwnKeys): boolean =>
  keysOf(own, purpose).some((key) => key.kid === kid && key.x === x);

function refuseTwoPurposes(own: OwnKeys, published: readonly PublishedKey[]): void {
  for (const purpose of ['receipt', 'checkpoint'] as const) {
    const other = purpose === 'receipt' ? 'checkpoint' : 'receipt';
    for (const { kid } of own[purpose]) {
      const isTwice = own[other].some((key) => key.kid === kid);
      if (!isTwice && !published.some((row) => row.kid === kid && row.purpose === other)) continue;
      const variable = purpose === 'receipt' ? 'RECEIPT_SIGNING_KEY' : 'LOG_SIGNING_KEY';
      throw new KeyOfTwoPurposes(
        isTwice
          ? 'RECEIPT_SIGNING_KEY and LOG_SIGNING_KEY have a seed in common: no proof would be accepted. Give each seeds of its own.'
          : `${variable} has a seed whose key ${kid} this service has published for the other purpose. Make a new one: no verifier accepts it for both.`,
      );
    }
  }
}
