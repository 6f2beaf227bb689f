import type { VaasKeySet } from '@tallygate/contract';
import type { Pool } from 'pg';
import { allOf, isConfigured, type OwnKeys, readPublishedKeys, recordOfKey } from './own-keys.ts';
import { ownRecords } from './own-records.ts';
import { storedKeySet } from './signing-keys.ts';

/**
 * The keys that this service signs with, or has put down that it did. One that somebody else wrote into the database is not given away: receipts
 * that are signed with it would be believed.
 */
export async function publishedKeySet(pool: Pool, own: OwnKeys): Promise<VaasKeySet> {
  const { keys } = await storedKeySet(pool);
  const [rows, records] = [await readPublishedKeys(pool), await ownRecords(pool, allOf(own))];
  const ours = new Map(rows.filter((row) => isConfigured(row, own) || records.has(recordOfKey(row))).map(({ kid, x }) => [kid, x]));
  return { keys: keys.filter(({ kid, x }) => ours.get(kid) === x) };
}
