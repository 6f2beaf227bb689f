import { toVerifierKey } from '../src/log/note.ts';
import { chainVectors } from './anchor-vectors.ts';
import { brokenVectors } from './broken-vectors.ts';
import { declarationVectors } from './declaration-vectors.ts';
import { exportVectors } from './export-vectors.ts';
import { goodVectors } from './good-vectors.ts';
import { invoiceVectors } from './invoice-vectors.ts';
import { promiseVectors } from './promise-vectors.ts';
import { successionVectors } from './succession-vectors.ts';
import { WITNESS_NAME } from './vector-log.ts';
import { accountId, apiKeyId, keySet, noteKey, witness } from './vector-receipts.ts';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const filesIn = (folder: string, vectors: Readonly<Record<string, unknown>>): [string, string][] =>
  Object.entries(vectors).map(([name, vector]) => [`${folder}/${name}.json`, json(vector)]);

/** Every generated file below `vectors/`, by path, with its text. */
export const vectorFiles = (): ReadonlyMap<string, string> =>
  new Map([
    ['keys.json', json(keySet)],
    [
      'owner.json',
      json({ why: 'Hashed with the nonce, these are account_hash and key_hash of plain.json.', account_id: accountId, key_id: apiKeyId }),
    ],
    [
      'witness.json',
      json({
        why: 'The witness that has cosigned good/logged-and-witnessed.json.',
        verifier_key: toVerifierKey(noteKey(witness, WITNESS_NAME, 'cosignature')),
      }),
    ],
    ...filesIn('good', goodVectors),
    ...filesIn('broken', brokenVectors),
    ...filesIn('chain', chainVectors),
    ...filesIn('exports', exportVectors),
    ...filesIn('invoices', invoiceVectors),
    ...filesIn('promises', promiseVectors),
    ...filesIn('succession', successionVectors),
    ...filesIn('declarations', declarationVectors),
  ]);
