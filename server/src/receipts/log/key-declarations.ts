import { sign } from 'node:crypto';
import {
  canonicalJson,
  detachedJws,
  jwsSigningInput,
  type KeyDeclaration,
  type KeyPurpose,
  type KeyRetiredDeclaration,
  type Undeclared,
} from '@tallygate/receipts';
import type { PoolClient } from 'pg';
import { rfc3339 } from '../../kernel/clock.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { allOf, isConfigured, keysOf, type OwnKeys, type PublishedKey, readPublishedKeys, recordOfKey } from '../own-keys.ts';
import { ownRecords } from '../own-records.ts';
import type { SigningKey } from '../signing-keys.ts';
import { tables } from '../tables.ts';
import type { DeclarationChain } from './declaration-chain.ts';

type OfKey = KeyDeclaration | KeyRetiredDeclaration;

/** Those of receipts and of the log are known before what they sign; a key for promises is signed by the receipt key that it is made from. */
const ORDER: readonly KeyPurpose[] = ['checkpoint', 'receipt', 'promise'];

interface DeclaringKeys {
  readonly own: OwnKeys;
  readonly now: number;
  /** Gives each its place: what a key signs names it too. */
  readonly chain: DeclarationChain;
}

/** What the log does not say yet of the keys that this service has put down as its own: that they sign, or that they do no more. */
export async function undeclaredKeys(client: PoolClient, { own, now, chain }: DeclaringKeys): Promise<OfKey[]> {
  const records = await ownRecords(client, allOf(own));
  const published = (await readPublishedKeys(client)).filter((row) => isConfigured(row, own) || records.has(recordOfKey(row)));
  const last = await lastDeclared(client);
  const isInForce = ({ kid }: { readonly kid: string }) => last.get(kid)?.kind === 'key';
  const made: OfKey[] = [];
  for (const row of ORDER.flatMap((purpose) => published.filter((one) => one.purpose === purpose))) {
    const { purpose, kid } = row;
    const said = last.get(kid)?.kind;
    if (said === undefined || (said === 'key_retired' && row.not_after === null))
      made.push(
        declared(
          row,
          { now, chain },
          signerOf(row, own, [
            ...made.map((one) => one.kid),
            ...keysOf(own, purpose)
              .filter(isInForce)
              .map((key) => key.kid),
          ]),
        ),
      );
    if (row.not_after !== null && said !== 'key_retired')
      made.push(
        chain.link<KeyRetiredDeclaration>({
          version: VERSION,
          kind: 'key_retired',
          declared_at: rfc3339(now),
          purpose,
          kid,
          not_after: rfc3339(row.not_after),
        }),
      );
  }
  return made;
}

const VERSION = 'tallygate-declaration/v1';

async function lastDeclared(client: PoolClient): Promise<Map<string, OfKey>> {
  const ofKeys = tables
    .selectFrom('log_declarations')
    .distinctOn('subject')
    .select(['subject', 'declaration'])
    .where('kind', 'in', ['key', 'key_retired']);
  const rows = await rowsOf(client, ofKeys.orderBy('subject').orderBy('log_index', 'desc'));
  return new Map(rows.map(({ subject, declaration }) => [subject, JSON.parse(declaration)]));
}

/** The key that vouches for a new one: of the same purpose, at hand, and in force before. Undefined for the first, and where the one before was lost. */
function signerOf({ purpose, kid }: PublishedKey, own: OwnKeys, inForce: readonly string[]): SigningKey | undefined {
  if (purpose === 'promise') return own.receipt[own.receipt.findIndex((_, at) => keysOf(own, 'promise')[at]?.kid === kid)];
  return keysOf(own, purpose).find((key) => key.kid !== kid && inForce.includes(key.kid));
}

function declared(
  { purpose, kid, x, not_before: from }: PublishedKey,
  { now, chain }: Pick<DeclaringKeys, 'now' | 'chain'>,
  signer: SigningKey | undefined,
): KeyDeclaration {
  const unsigned: Undeclared<KeyDeclaration> = {
    ...{ version: VERSION, kind: 'key', declared_at: rfc3339(now), purpose, kid, x },
    ...{ not_before: rfc3339(from), signed_by: null },
  };
  return chain.link<KeyDeclaration>(unsigned, (linked) => (signer ? signedBy(signer, linked) : linked));
}

function signedBy(signer: SigningKey, unsigned: KeyDeclaration): KeyDeclaration {
  const input = jwsSigningInput(signer.kid, Buffer.from(canonicalJson(unsigned)), 'tallygate-key');
  const jws = detachedJws(signer.kid, sign(null, input, signer.privateKey).toString('base64url'), 'tallygate-key');
  return { ...unsigned, signed_by: { kid: signer.kid, jws } };
}
