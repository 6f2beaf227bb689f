import type { MarketingPersonRecord, PeopleFilter } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, day } from '../format.ts';
import { MailState } from '../marketing/mail-state.tsx';
import { filterOf, PEOPLE_FIELDS } from '../marketing/people-filter.ts';
import { type PeopleSearch, peopleSearch } from '../searches.ts';
import { FilterForm } from '../ui/filter-form.tsx';
import { Badge, Empty, PageHead, Pending } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';
import { SavedFilters } from '../ui/saved-filters.tsx';
import { type Column, Table } from '../ui/table.tsx';

const PAGE = 100;

const COLUMNS: readonly Column<MarketingPersonRecord>[] = [
  {
    name: 'Person',
    cell: ({ person_id: personId, name, email }) => (
      <Link to="/people/$personId" params={{ personId }}>
        {name ?? email}
      </Link>
    ),
  },
  { name: 'E-mail address', cell: ({ email }) => email, isSecondary: true },
  { name: 'Company', cell: ({ company }) => company ?? '–', isSecondary: true },
  { name: 'Stage', cell: ({ status }) => <Badge state={status} /> },
  {
    name: 'Mail',
    cell: (person) => <MailState person={person} />,
  },
  { name: 'Tags', cell: ({ tags }) => tags.join(', ') || '–', isSecondary: true },
  { name: 'Known since', cell: ({ created_at: at }) => day(at), isSecondary: true },
];

function Found({ filter }: { filter: PeopleFilter }) {
  const [offset, setOffset] = useState(0);
  const query = { ...filter, limit: PAGE, offset };
  const { data, error } = useQuery({ queryKey: ['people', query], queryFn: async () => tallygate.people.list(query) });
  if (!data) return <Pending error={error} />;
  if (data.data.length === 0)
    return (
      <Empty title="Nobody is found">
        People come by signing up, registering for an event, writing to the team, or <Link to="/people/import">an import</Link>.
      </Empty>
    );
  return (
    <>
      <Table label="People, the newest first" rows={data.data} columns={COLUMNS} idOf={({ person_id: id }) => id} />
      <div className="form-actions">
        <span className="quiet">
          {count(data.offset + 1)} to {count(data.offset + data.data.length)} of {data.total_is_exact ? '' : 'about '}
          {count(data.total)}
        </span>
        <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>
          Previous
        </button>
        <button type="button" disabled={!data.has_more} onClick={() => setOffset(offset + PAGE)}>
          Next
        </button>
      </div>
    </>
  );
}

async function save(filter: PeopleFilter): Promise<void> {
  const file = await tallygate.people.exportAll(filter);
  saveFile('people.csv', await file.text(), 'text/csv');
}

export function PeoplePage() {
  const search = useSearch({ from: '/frame/people', select: peopleSearch });
  const navigate = useNavigate({ from: '/people' });
  const filter = filterOf(search);
  const show = (asked: PeopleSearch): void => void navigate({ search: asked });
  const actions = (
    <>
      <button type="button" onClick={() => void save(filter)}>
        Save as CSV
      </button>
      <Link to="/people/import" className="button">
        Import
      </Link>
    </>
  );
  return (
    <>
      <PageHead title="People" aside={actions}>
        Everybody the service knows by an e-mail address: users, registrations, requests, imports.
      </PageHead>
      <FilterForm fields={PEOPLE_FIELDS} filter={search} onSearch={show} />
      <SavedFilters page="people" search={search} onChoose={show} />
      <Found filter={filter} key={JSON.stringify(filter)} />
    </>
  );
}
