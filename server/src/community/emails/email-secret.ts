import type { Pool } from 'pg';
import { firstOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/** The secret that signs what goes out with mails; the same in every process, and read once. */
export function createEmailSecret(pool: Pool): () => Promise<string> {
  let secret: Promise<string> | undefined;
  const read = async (): Promise<string> => {
    const kept = await firstOf(pool, tables.selectFrom('email_secret').select('secret'));
    if (!kept) throw new Error('The secret of the links in mails is missing from the database');
    return kept.secret;
  };
  return () => {
    secret ??= read().catch((failure) => {
      secret = undefined;
      throw failure;
    });
    return secret;
  };
}
