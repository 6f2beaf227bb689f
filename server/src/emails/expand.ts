import type { MarketingEmailAudience } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { type PersonRow, personById, walkPeople } from '../people/index.ts';

const AT_ONCE = 1_000;

/** Whom a mail is for: an audience of people, or, of a test, nobody beyond the recipient it was begun with. */
type StoredAudience = MarketingEmailAudience | { readonly test: string };

/** Looks up who is to get the mails whose time has come. Begun again after a death, it adds whoever is missing. */
export async function expandDue(pool: Pool, clock: Clock): Promise<void> {
  const now = () => new Date(clock.now());
  const { rows } = await pool.query<{ email_id: string; audience: StoredAudience }>(
    `update emails set state = 'preparing', started_at = coalesce(started_at, $1)
     where state = 'preparing' or (state = 'scheduled' and due_at <= $1) returning email_id, audience`,
    [now()],
  );
  for (const { email_id, audience } of rows) {
    for await (const people of audienceOf(pool, audience)) await addRecipients(pool, { emailId: email_id, people, at: now() });
    await pool.query("update emails set state = 'sending' where email_id = $1 and state = 'preparing'", [email_id]);
  }
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
  const rows = people.map(({ person_id, email, name, company }) => ({ recipient_id: newId(), person_id, address: email, name, company }));
  await pool.query(
    `insert into email_recipients (recipient_id, email_id, person_id, address, address_hash, name, company, state, due_at, at)
     select n.recipient_id, $1, n.person_id, n.address, n.hash, n.name, n.company,
       case when s.address_hash is null then 'queued' else 'suppressed' end, $3, $3
     from (select *, address_hash(address) as hash
           from jsonb_to_recordset($2::jsonb) as new (recipient_id uuid, person_id uuid, address text, name text, company text)) as n
       left join suppressed_addresses s on s.address_hash = n.hash
     on conflict (email_id, address_hash) do nothing`,
    [emailId, JSON.stringify(rows), at],
  );
}
