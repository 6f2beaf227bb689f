import type { MarketingPersonRecord } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { tallygate } from '../client.ts';
import { count, day } from '../format.ts';
import { Person } from '../marketing/person.tsx';
import { Badge, Empty, Failure, Loading, PageHead } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';
import { type Column, Table } from '../ui/table.tsx';

const PAGE = 100;

const columnsOf = (onOpen: (person: MarketingPersonRecord) => void): readonly Column<MarketingPersonRecord>[] => [
  {
    name: 'Person',
    cell: (person) => (
      <button type="button" className="link" onClick={() => onOpen(person)}>
        {person.name ?? person.email}
      </button>
    ),
  },
  { name: 'E-mail address', cell: ({ email }) => email, isSecondary: true },
  { name: 'Company', cell: ({ company }) => company ?? '–', isSecondary: true },
  { name: 'Stage', cell: ({ status }) => <Badge state={status} /> },
  {
    name: 'Mail',
    cell: ({ subscription, consent }) => (
      <Badge
        state={subscription === 'subscribed' && !consent?.confirmed_at ? 'no consent' : subscription}
        tone={subscription === 'subscribed' && consent?.confirmed_at ? 'good' : 'quiet'}
      />
    ),
  },
  { name: 'Tags', cell: ({ tags }) => tags.join(', ') || '–', isSecondary: true },
  { name: 'Known since', cell: ({ created_at: at }) => day(at), isSecondary: true },
];

async function save(q: string): Promise<void> {
  const file = await tallygate.people.exportAll(q === '' ? {} : { q });
  saveFile('people.csv', await file.text(), 'text/csv');
}

export function PeoplePage() {
  const [q, setQ] = useState('');
  const [offset, setOffset] = useState(0);
  const [opened, setOpened] = useState<MarketingPersonRecord>();
  const query = { ...(q !== '' && { q }), limit: PAGE, offset };
  const { data, error } = useQuery({ queryKey: ['people', query], queryFn: async () => tallygate.people.list(query) });
  const search = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setOffset(0);
    setQ(String(new FormData(event.currentTarget).get('q') ?? '').trim());
  };
  const file = (
    <button type="button" onClick={() => void save(q)}>
      Save as CSV
    </button>
  );
  return (
    <>
      <PageHead title="People" aside={file}>
        Everybody the service knows by an e-mail address: users, registrations, requests, imports.
      </PageHead>
      <search>
        <form className="filters" onSubmit={search}>
          <label>
            Find <input type="search" name="q" placeholder="ada, or #beta for a tag" />
          </label>
          <button type="submit">Search</button>
        </form>
      </search>
      {error && <Failure error={error} />}
      {!error && !data && <Loading />}
      {data && data.data.length > 0 && (
        <>
          <Table label="People, the newest first" rows={data.data} columns={columnsOf(setOpened)} idOf={({ person_id: id }) => id} />
          <div className="form-actions">
            <span className="quiet">
              {count(data.offset + 1)} to {count(data.offset + data.data.length)} of {data.total_is_exact ? '' : 'about '}
              {count(data.total)}
            </span>
            <button type="button" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>
              Before
            </button>
            <button type="button" disabled={!data.has_more} onClick={() => setOffset(offset + PAGE)}>
              Next
            </button>
          </div>
        </>
      )}
      {data?.data.length === 0 && (
        <Empty title="Nobody is found">People come by signing up, registering for an event, writing to the team, or an import.</Empty>
      )}
      {opened && <Person personId={opened.person_id} onClose={() => setOpened(undefined)} />}
    </>
  );
}
