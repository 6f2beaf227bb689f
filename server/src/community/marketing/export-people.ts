import type { PeopleFilter } from '@tallygate/contract';
import type { Pool } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { csvRow } from '../../kernel/csv-row.ts';
import { type PersonRow, personToWire, walkPeople } from '../people/index.ts';

type Wire = ReturnType<typeof personToWire>;

const COLUMNS: Readonly<Record<string, (person: Wire) => string | null>> = {
  person_id: ({ person_id }) => person_id,
  email: ({ email }) => email,
  name: ({ name }) => name,
  company: ({ company }) => company,
  status: ({ status }) => status,
  subscription: ({ subscription }) => subscription,
  sources: ({ sources }) => sources.join(';'),
  event_slugs: ({ event_slugs }) => event_slugs.join(';'),
  tags: ({ tags }) => tags.join(';'),
  owner: ({ owner }) => owner,
  client_type: ({ client_type }) => client_type,
  plan_tier: ({ plan_tier }) => plan_tier,
  consent: ({ consent }) => consent && (consent.confirmed_at === null ? 'claimed' : 'given'),
  consent_source: ({ consent }) => consent?.source ?? null,
  consent_given_at: ({ consent }) => consent?.given_at ?? null,
  created_at: ({ created_at }) => created_at,
  updated_at: ({ updated_at }) => updated_at,
};

/** The CSV of everybody who matches a filter, in pieces. The export is in the audit log before the first piece. */
export async function* exportPeople(
  pool: Pool,
  { principal, origin }: { readonly principal: Principal; readonly origin: Origin },
  filter: PeopleFilter,
): AsyncGenerator<string> {
  await recordAudit(pool, {
    accountId: principal.accountId,
    actor: actorOf(principal),
    action: 'people.exported',
    target: { kind: 'people', id: 'export' },
    changes: { filter },
    origin,
  });
  yield csvRow(Object.keys(COLUMNS));
  for await (const rows of walkPeople(pool, filter)) yield rows.map(rowOf).join('');
}

const rowOf = (row: PersonRow): string => {
  const person = personToWire(row);
  return csvRow(Object.values(COLUMNS).map((cell) => cell(person) ?? ''));
};
