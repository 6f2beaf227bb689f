import type { ReceiptListItem, ReceiptQuery } from '@tallygate/sdk';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { tallygate } from '../client.ts';
import { usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { type RequestFilter, requestFilter } from '../searches.ts';
import { type FilterField, FilterForm } from '../ui/filter-form.tsx';
import { LongTable } from '../ui/long-table.tsx';
import { At, Badge, Empty, PageHead, Pending } from '../ui/parts.tsx';
import { SavedFilters } from '../ui/saved-filters.tsx';
import type { Column } from '../ui/table.tsx';

/** Of a search that finds little, each row more is more to look through. */
const PAGE = 100;

const COLUMNS: readonly Column<ReceiptListItem>[] = [
  { name: 'Started', cell: ({ started_at: at }) => <At at={at} /> },
  {
    name: 'Model',
    cell: ({ request_id: requestId, model, outcome }) => (
      <>
        <Link to="/requests/$requestId" params={{ requestId }}>
          {model}
        </Link>{' '}
        <span className="narrow">{outcome !== 'completed' && <Badge state={outcome} />}</span>
      </>
    ),
  },
  { name: 'Endpoint', cell: ({ endpoint }) => <code className="mono">{endpoint}</code>, isSecondary: true },
  { name: 'Outcome', cell: ({ outcome }) => <Badge state={outcome} />, isSecondary: true },
  { name: 'Run', cell: ({ run_id: run }) => run ?? '–', isSecondary: true },
  { name: 'Cost', cell: ({ cost_usd: cost }) => usd(cost), isFigure: true },
];

const OUTCOMES = ['completed', 'cached', 'cancelled', 'abandoned', 'cut', 'failed', 'refunded'] as const;
const DAY_MS = 86_400_000;

/** Days as the API has times: from its beginning, to its end, UTC. What is not an outcome is refused there. */
function queryOf({ from, to, outcome, ...rest }: RequestFilter): ReceiptQuery {
  return {
    ...rest,
    ...(outcome !== undefined && { outcome: outcome as ReceiptListItem['outcome'] }),
    ...(from !== undefined && { from: `${from}T00:00:00Z` }),
    ...(to !== undefined && { to: new Date(Date.parse(to) + DAY_MS).toISOString() }),
  };
}

function useRequests(filter: RequestFilter) {
  const livemode = useLivemode();
  return useInfiniteQuery({
    queryKey: ['receipts', livemode, filter],
    queryFn: async ({ pageParam }) =>
      tallygate.receipts.list({ ...queryOf(filter), livemode, limit: PAGE, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

function Found({ filter }: { filter: RequestFilter }) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useRequests(filter);
  if (!data) return <Pending error={error} />;
  const rows = data.pages.flatMap((page) => page.data);
  const more = (): void => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  if (rows.length > 0)
    return <LongTable label="Requests, the newest first" rows={rows} columns={COLUMNS} idOf={({ id }) => id} onEnd={more} />;
  if (Object.values(filter).some((value) => value !== undefined))
    return <Empty title="Nothing is found">No request fits all of the filters.</Empty>;
  return (
    <Empty title="No requests">
      Requests appear a second after their answer. Try one in the <Link to="/playground">playground</Link>, or look at the other mode: test
      keys make test requests.
    </Empty>
  );
}

/** Keys by their names, and one that is in the address alone. */
function useFields({ key_id: asked }: RequestFilter): readonly FilterField<keyof RequestFilter>[] {
  const livemode = useLivemode();
  const { data = [] } = useQuery({ queryKey: ['keys'], queryFn: () => tallygate.keys.list() });
  const keys = data.filter((key) => key.livemode === livemode || key.key_id === asked);
  const unknown = asked !== undefined && !keys.some(({ key_id: id }) => id === asked);
  return [
    { name: 'month', label: 'Month', type: 'month' },
    { name: 'model', label: 'Model' },
    {
      name: 'key_id',
      label: 'API key',
      options: [['', 'any'], ...keys.map(({ key_id: id, name }) => [id, name] as const), ...(unknown ? [[asked, asked] as const] : [])],
    },
    { name: 'outcome', label: 'Outcome', options: [['', 'any'], ...OUTCOMES.map((one) => [one, one] as const)] },
    { name: 'run_id', label: 'Agent run', isMore: true },
    { name: 'end_user', label: 'End user', isMore: true },
    { name: 'min_cost_usd', label: 'Cost from, USD', placeholder: '0.01', isMore: true },
    { name: 'max_cost_usd', label: 'Cost up to, USD', isMore: true },
    { name: 'from', label: 'Since, UTC', type: 'date', isMore: true },
    { name: 'to', label: 'Until, UTC', type: 'date', isMore: true },
  ];
}

export function Requests() {
  const filter = useSearch({ from: '/frame/requests', select: requestFilter });
  const navigate = useNavigate({ from: '/requests' });
  const fields = useFields(filter);
  const show = (search: RequestFilter): void => void navigate({ search });
  return (
    <>
      <PageHead title="Requests">Every settled request, with its receipt.</PageHead>
      <FilterForm fields={fields} filter={filter} onSearch={show} />
      <SavedFilters page="requests" search={filter} onChoose={show} />
      <Found filter={filter} />
    </>
  );
}
