import type { MarketingEmailAudience } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { type PersonRow, personById, walkPeople } from '../people/index.ts';
import { tables } from './tables.ts';

const AT_ONCE = 1_000;

/** The recipients of a mail: an audience of people, or, for a test, only the recipient it was created with. */
type StoredAudience = MarketingEmailAudience | { readonly test: string };

/** Selects the recipients of the due mails, some of each in turn, so that a mail to many does not delay one to few. */
export function createExpansion(pool: Pool, clock: Clock) {
  const walks = new Map<string, AsyncGenerator<PersonRow[]>>();
  const step = async (emailId: string, walk: AsyncGenerator<PersonRow[]>): Promise<void> => {
    const { value: people, done } = await walk.next();
    if (!done) return addRecipients(pool, { emailId, people, at: new Date(clock.now()) });
    walks.delete(emailId);
    await pool.query("update emails set state = 'sending' where email_id = $1 and state = 'preparing'", [emailId]);
  };
  return {
    /**
     * Runs for about so long, at least one step. Restarted after a crash, it adds the missing recipients.
     * @returns whether there is more to look up
     */
    async goOn(forMs: number): Promise<boolean> {
      const until = performance.now() + forMs;
      await pool.query(
        "update emails set state = 'preparing', started_at = coalesce(started_at, $1) where state = 'scheduled' and due_at <= $1",
        [new Date(clock.now())],
      );
      const preparing = tables.selectFrom('emails').select(['email_id', 'audience']).where('state', '=', 'preparing');
      const rows = await rowsOf(pool, preparing.orderBy('due_at'));
      const wanted = new Map(rows.map(({ email_id, audience }) => [email_id, audience]));
      // Canceled meanwhile.
      for (const emailId of walks.keys()) if (!wanted.has(emailId)) walks.delete(emailId);
      for (const [emailId, audience] of wanted) if (!walks.has(emailId)) walks.set(emailId, audienceOf(pool, audience));
      do for (const [emailId, walk] of walks) await step(emailId, walk);
      while (walks.size > 0 && performance.now() < until);
      return walks.size > 0;
    },
  };
}

/** The people of an audience, some at a time. */
export async function* audienceOf(pool: Pool, audience: StoredAudience): AsyncGenerator<PersonRow[]> {
  if ('filter' in audience) yield* walkPeople(pool, audience.filter);
  else if ('person_id' in audience || 'person_ids' in audience) {
    const ids = 'person_id' in audience ? [audience.person_id] : audience.person_ids;
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const people: PersonRow[] = [];
      for (const id of ids.slice(at, at + AT_ONCE)) {
        const person = await personById(pool, id);
        if (person) people.push(person);
      }
      yield people;
    }
  }
}

async function addRecipients(
  pool: Pool,
  { emailId, people, at }: { emailId: string; people: readonly PersonRow[]; at: Date },
): Promise<void> {
  // Waits for a concurrent cancellation: no recipient is added afterwards.
  const rows = people.map(({ person_id, email, name, company }) => ({ recipient_id: newId(), person_id, address: email, name, company }));
  await pool.query(
    `with mail as (select email_id from emails where email_id = $1 and state = 'preparing' for share)
     insert into email_recipients (recipient_id, email_id, person_id, address, address_hash, name, company, state, due_at, at)
     select n.recipient_id, mail.email_id, n.person_id, n.address, n.hash, n.name, n.company,
       case when s.address_hash is null then 'queued' else 'suppressed' end, $3, $3
     from (select *, address_hash(address) as hash
           from jsonb_to_recordset($2::jsonb) as new (recipient_id uuid, person_id uuid, address text, name text, company text)) as n
       cross join mail
       left join suppressed_addresses s on s.address_hash = n.hash
     on conflict (email_id, address_hash) do nothing`,
    [emailId, JSON.stringify(rows), at],
  );
}
