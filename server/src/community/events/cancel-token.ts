import { idSigned, signedId } from '../../kernel/signed-id.ts';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

const PROOF_BYTES = 16;

const sealed = async (db: Queryable) => {
  const kept = await firstOf(db, tables.selectFrom('event_secret').select('secret'));
  if (!kept) throw new Error('The secret of links about events is missing from the database');
  return { secret: kept.secret, purpose: 'cancel-registration', proofBytes: PROOF_BYTES };
};

/** What a mail about a registration carries, so that its reader can end it without an account. */
export const cancelTokenOf = async (db: Queryable, registrationId: string): Promise<string> =>
  signedId(registrationId, await sealed(db)).toString('base64url');

/** @returns undefined for what was made up */
export const registrationInToken = async (db: Queryable, token: string): Promise<string | undefined> =>
  idSigned(Buffer.from(token, 'base64url'), await sealed(db));
