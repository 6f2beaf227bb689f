import type { ReceiptListItem } from '@tallygate/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { tallygate } from '../client.ts';
import { usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import type { RequestFilter } from '../searches.ts';
import { given } from '../ui/dialog.tsx';
import { LongTable } from '../ui/long-table.tsx';
import { At, Badge, Empty, Failure, Loading, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

const PAGE = 200;

const COLUMNS: readonly Column<ReceiptListItem>[] = [
  { name: 'Started', cell: ({ started_at: at }) => <At at={at} /> },
  {
    name: 'Model',
    cell: ({ request_id: requestId, model }) => (
      <Link to="/requests/$requestId" params={{ requestId }}>
        {model}
      </Link>
    ),
  },
  { name: 'Endpoint', cell: ({ endpoint }) => <code className="mono">{endpoint}</code>, isSecondary: true },
  { name: 'Outcome', cell: ({ outcome }) => <Badge state={outcome} /> },
  { name: 'Run', cell: ({ run_id: run }) => run ?? '–', isSecondary: true },
  { name: 'Cost', cell: ({ cost_usd: cost }) => usd(cost), isFigure: true },
];

function useRequests(filter: RequestFilter) {
  const livemode = useLivemode();
  return useInfiniteQuery({
    queryKey: ['receipts', livemode, filter],
    queryFn: async ({ pageParam }) =>
      tallygate.receipts.list({ ...filter, livemode, limit: PAGE, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

function Found({ filter }: { filter: RequestFilter }) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useRequests(filter);
  if (error) return <Failure error={error} />;
  if (!data) return <Loading />;
  const rows = data.pages.flatMap((page) => page.data);
  const more = (): void => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  if (rows.length > 0)
    return <LongTable label="Requests, the newest first" rows={rows} columns={COLUMNS} idOf={({ id }) => id} onEnd={more} />;
  return (
    <Empty title="No requests">
      Requests appear a second after their answer. Try one in the <Link to="/playground">playground</Link>, or look at the other mode: test
      keys make test requests.
    </Empty>
  );
}

const FIELDS: readonly (readonly [name: keyof RequestFilter, label: string, type: string])[] = [
  ['month', 'Month', 'month'],
  ['model', 'Model', 'text'],
  ['key_id', 'API key, its id', 'text'],
  ['run_id', 'Agent run', 'text'],
];

/** What is looked for is in the address, so that it can be sent to somebody. */
function Filters({ filter }: { filter: RequestFilter }) {
  const navigate = useNavigate({ from: '/requests' });
  const search = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void navigate({ search: Object.fromEntries(FIELDS.map(([name]) => [name, given(fields, name)])) });
  };
  return (
    <search>
      <form className="filters" onSubmit={search} key={JSON.stringify(filter)}>
        {FIELDS.map(([name, label, type]) => (
          <label key={name}>
            {label} <input name={name} type={type} defaultValue={filter[name]} />
          </label>
        ))}
        <button type="submit">Search</button>
      </form>
    </search>
  );
}

export function Requests() {
  const filter = useSearch({ from: '/frame/requests' });
  return (
    <>
      <PageHead title="Requests">Every settled request, with its receipt.</PageHead>
      <Filters filter={filter} />
      <Found filter={filter} />
    </>
  );
}
