import { idSigned, signedId } from '../../kernel/signed-id.ts';
import type { Sql } from './event-rows.ts';

const PROOF_BYTES = 16;

const sealed = async (sql: Sql) => {
  const { rows } = await sql.query<{ secret: string }>('select secret from event_secret');
  if (!rows[0]) throw new Error('The secret of links about events is missing from the database');
  return { secret: rows[0].secret, purpose: 'cancel-registration', proofBytes: PROOF_BYTES };
};

/** What a mail about a registration carries, so that its reader can end it without an account. */
export const cancelTokenOf = async (sql: Sql, registrationId: string): Promise<string> =>
  signedId(registrationId, await sealed(sql)).toString('base64url');

/** @returns undefined for what was made up */
export const registrationInToken = async (sql: Sql, token: string): Promise<string | undefined> =>
  idSigned(Buffer.from(token, 'base64url'), await sealed(sql));
