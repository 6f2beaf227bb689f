import type { Pool } from 'pg';

/** The secret that signs what goes out with mails; the same in every process, and read once. */
export function createEmailSecret(pool: Pool): () => Promise<string> {
  let secret: Promise<string> | undefined;
  const read = async (): Promise<string> => {
    const { rows } = await pool.query<{ secret: string }>('select secret from email_secret');
    if (!rows[0]) throw new Error('The secret of what goes out with mails is missing from the database');
    return rows[0].secret;
  };
  return () => {
    secret ??= read().catch((failure) => {
      secret = undefined;
      throw failure;
    });
    return secret;
  };
}
