import type { Pool } from 'pg';
import { noteInHistory } from './person-history.ts';
import { suppress } from './suppression.ts';

interface Bounce {
  /** As people are kept: in lower case. */
  readonly address: string;
  /** What the mail server said. */
  readonly error: string;
  readonly at: Date;
}

/** An address that is refused permanently gets no further mail: to go on would cost the sender's good name. In the caller's transaction. */
export async function recordBouncedAddress(sql: Pick<Pool, 'query'>, { address, error, at }: Bounce): Promise<void> {
  const execute = (text: string, values: unknown[]) => sql.query(text, values);
  await suppress(execute, { emails: [address], reason: 'bounced', at });
  const { rows } = await sql.query<{ person_id: string }>(
    'update people set bounced_at = $2, updated_at = $2 where email = $1 and bounced_at is null returning person_id',
    [address, at],
  );
  for (const { person_id: personId } of rows)
    await noteInHistory(execute, { ...{ personId, action: 'bounce', at, detail: { error } }, actor: { kind: 'system', id: null } });
}
