import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import { noteInHistory } from './person-history.ts';
import { suppress } from './suppression.ts';
import { tables } from './tables.ts';

interface Bounce {
  /** As people are stored: in lower case. */
  readonly address: string;
  /** The answer of the mail server. */
  readonly error: string;
  readonly at: Date;
}

/** An address that is refused permanently gets no further mail: to go on would cost the sender's good name. In the caller's transaction. */
export async function recordBouncedAddress(db: Queryable, { address, error, at }: Bounce): Promise<void> {
  await suppress(db, { emails: [address], reason: 'bounced', at });
  const bounced = tables.updateTable('people').set({ bounced_at: at, updated_at: at }).where('email', '=', address);
  const rows = await rowsOf(db, bounced.where('bounced_at', 'is', null).returning('person_id'));
  for (const { person_id: personId } of rows)
    await noteInHistory(db, { ...{ personId, action: 'bounce', at, detail: { error } }, actor: { kind: 'system', id: null } });
}
