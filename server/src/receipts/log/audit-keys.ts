import type { KeyPurpose } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import { isConfigured, keysOf, type OwnKeys, type PublishedKey, readPublishedKeys, recordOfKey } from '../own-keys.ts';
import type { OwnRecords } from '../own-records.ts';
import type { Fault } from './fault.ts';

/** A key that signs, or has signed, for this service, and when. */
export interface PublishedOwnKey {
  readonly kid: string;
  readonly x: string;
  readonly purpose: KeyPurpose;
  /** Null where they are not known: the row of a configured key is gone or was altered. */
  readonly period: { readonly notBefore: Date; readonly notAfter: Date | null } | null;
}

/** The keys that this service is or was configured with, and what is published beside or instead of them. */
export async function auditKeys(
  db: Pool | PoolClient,
  own: OwnKeys,
  records: OwnRecords,
): Promise<{ readonly keys: PublishedOwnKey[]; readonly faults: Fault[] }> {
  const published = await readPublishedKeys(db);
  const [recorded, strange] = [
    published.filter((row) => records.has(recordOfKey(row))),
    published.filter((row) => !records.has(recordOfKey(row))),
  ];
  const unpublished = purposes.flatMap((purpose) =>
    keysOf(own, purpose)
      .filter(({ kid }) => !published.some((row) => row.kid === kid))
      .map(({ kid, x }) => ({ kid, x, purpose, period: null })),
  );
  return {
    keys: [
      ...recorded.map(({ kid, x, purpose, not_before: notBefore, not_after: notAfter }) => ({
        kid,
        x,
        purpose,
        period: { notBefore, notAfter },
      })),
      ...strange.filter((row) => isConfigured(row, own)).map(({ kid, x, purpose }) => ({ kid, x, purpose, period: null })),
      ...unpublished,
    ],
    faults: [
      ...strange.map((row) => said(strangeness(row, own))),
      ...unpublished.map(({ kid }) => said(`the key ${kid}, which signs, is not published any more`)),
    ],
  };
}

const purposes = ['receipt', 'checkpoint', 'promise'] as const;
const said = (fault: string): Fault => ({ fault, seen: `fault ${fault}` });

const strangeness = (row: PublishedKey, own: OwnKeys): string =>
  isConfigured(row, own)
    ? `the key ${row.kid} is published with other times than it was put in force with`
    : `the key ${row.kid} for ${row.purpose}s is published, and this service was not configured with it, or not for these times`;
