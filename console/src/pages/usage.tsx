import type { UsageResponse, UsageRow } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { tallygate } from '../client.ts';
import { count, daysAgo, isoDay, monthStart, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { useNames } from '../names.ts';
import { type UsageSearch, usageSearch } from '../searches.ts';
import { Empty, Figure, Figures, PageHead, Pending } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';
import { SavedFilters } from '../ui/saved-filters.tsx';
import { type Column, Table } from '../ui/table.tsx';

const GROUPINGS = {
  day: 'Day',
  hour: 'Hour',
  model: 'Model',
  key: 'API key',
  project: 'Project',
  member: 'Member',
  provider: 'Provider',
  end_user: 'End user',
  tag: 'Tag',
  run: 'Agent run',
  outcome: 'Outcome',
} as const;
type Grouping = keyof typeof GROUPINGS;
const NAMES = Object.keys(GROUPINGS) as Grouping[];
const FIELD_OF = {
  ...{ day: 'day', hour: 'hour', model: 'model', key: 'key_id', project: 'project_id', member: 'user_id', provider: 'provider' },
  ...{ end_user: 'end_user', tag: 'tag', run: 'run_id', outcome: 'outcome' },
} as const satisfies Record<Grouping, keyof UsageRow>;

const isPeriod = (grouping: Grouping): grouping is 'day' | 'hour' => grouping === 'day' || grouping === 'hour';
/** As `per` and `group_by`. */
function groupsOf(groupings: readonly Grouping[]) {
  const groups = groupings.filter((grouping) => !isPeriod(grouping));
  return { per: groupings.find(isPeriod), ...(groups.length > 0 && { group_by: groups.join() }) };
}
const idOf = (row: UsageRow, grouping: Grouping): string => row[FIELD_OF[grouping]] ?? '(none)';

function nameOf(row: UsageRow, grouping: Grouping, names: ReadonlyMap<string, string>): string {
  const id = idOf(row, grouping);
  return grouping === 'hour' ? id.slice(0, 16).replace('T', ' ') : (names.get(id) ?? id);
}

const columnsOf = (groupings: readonly Grouping[], names: ReadonlyMap<string, string>): readonly Column<UsageRow>[] => [
  ...groupings.map((grouping) => ({ name: GROUPINGS[grouping], cell: (row: UsageRow) => nameOf(row, grouping, names) })),
  {
    name: 'Requests',
    cell: ({ requests }) => count(requests),
    isFigure: true,
    ...(groupings.length > 1 && { isSecondary: true as const }),
  },
  { name: 'Tokens in', cell: ({ input_tokens: tokens }) => count(tokens), isFigure: true, isSecondary: true },
  { name: 'Of these cached', cell: ({ cached_input_tokens: tokens }) => count(tokens), isFigure: true, isSecondary: true },
  { name: 'Tokens out', cell: ({ output_tokens: tokens }) => count(tokens), isFigure: true, isSecondary: true },
  { name: 'Cost', cell: ({ cost_usd: cost }) => usd(cost), isFigure: true },
];

type Query = Parameters<typeof tallygate.usage.export>[0];

/** All groups, also those that the page does not list. */
async function save(query: Query, groupings: readonly Grouping[], { from, to }: UsageResponse): Promise<void> {
  const file = await tallygate.usage.export(query);
  saveFile(`usage-by-${groupings.join('-')}-${from}-${to}.csv`, await file.text(), 'text/csv');
}

interface FoundProps {
  readonly usage: UsageResponse;
  readonly query: Query;
  /** In the order in which they were asked for. */
  readonly groupings: readonly Grouping[];
}

function Found({ usage, query, groupings }: FoundProps) {
  const { items, total } = usage;
  const names = useNames(groupings);
  if (items.length === 0) return <Empty title="Nothing was used">Choose other days, or the other mode.</Empty>;
  return (
    <>
      <Figures>
        <Figure label="Cost" value={usd(total.cost_usd)} />
        <Figure label="Beyond the plan’s quota" value={usd(total.charged_usd)} />
        <Figure label="Requests" value={count(total.requests)} />
        <Figure label="Tokens" value={`${count(total.input_tokens)} in`} note={`${count(total.output_tokens)} out`} />
      </Figures>
      <div className="form-actions">
        <button type="button" onClick={() => void save(query, groupings, usage)}>
          Save as CSV
        </button>
      </div>
      <Table
        label={`Usage by ${groupings.map((grouping) => GROUPINGS[grouping]).join(' and ')}`}
        rows={items}
        columns={columnsOf(groupings, names)}
        idOf={(row) => groupings.map((grouping) => idOf(row, grouping)).join(' ')}
      />
    </>
  );
}

const Options = ({ of }: { of: readonly Grouping[] }) =>
  of.map((name) => (
    <option key={name} value={name}>
      {GROUPINGS[name]}
    </option>
  ));

const groupingOf = (name: string | undefined): Grouping | undefined => NAMES.find((grouping) => grouping === name);

/** What the address asks for; left out, this month by days. */
function askedOf({ by, and, from, to, last }: UsageSearch) {
  const days = Number(last);
  const grouping = groupingOf(by) ?? 'day';
  const second = groupingOf(and);
  return {
    ...{ grouping, second: second === grouping ? undefined : second },
    ...(days > 0 ? { from: daysAgo(days - 1), to: isoDay(new Date()) } : { from: from ?? monthStart(), to: to ?? isoDay(new Date()) }),
  };
}

function Groups({ search, onSearch }: { search: UsageSearch; onSearch: (search: UsageSearch) => void }) {
  const { grouping, second } = askedOf(search);
  return (
    <>
      <label>
        By{' '}
        <select value={grouping} onChange={({ target }) => onSearch({ ...search, by: target.value, and: undefined })}>
          <Options of={NAMES} />
        </select>
      </label>
      <label>
        and{' '}
        <select value={second ?? ''} onChange={({ target }) => onSearch({ ...search, and: target.value || undefined })}>
          <option value="">nothing else</option>
          <Options of={NAMES.filter((name) => name !== grouping && !(isPeriod(name) && isPeriod(grouping)))} />
        </select>
      </label>
    </>
  );
}

function Days({ search, onSearch }: { search: UsageSearch; onSearch: (search: UsageSearch) => void }) {
  const { from, to } = askedOf(search);
  const between = (days: { readonly from?: string; readonly to?: string }): void =>
    onSearch({ ...search, from, to, ...days, last: undefined });
  const last = (days: string) => (
    <button
      type="button"
      aria-pressed={search.last === days}
      onClick={() => onSearch({ ...search, from: undefined, to: undefined, last: days })}
    >
      Last {days} days
    </button>
  );
  return (
    <>
      <label>
        From <input type="date" value={from} max={to} onChange={({ target }) => target.value && between({ from: target.value })} />
      </label>
      <label>
        To <input type="date" value={to} min={from} onChange={({ target }) => target.value && between({ to: target.value })} />
      </label>
      {last('7')}
      {last('30')}
    </>
  );
}

export function UsagePage() {
  const livemode = useLivemode();
  const search = useSearch({ from: '/frame/usage', select: usageSearch });
  const navigate = useNavigate({ from: '/usage' });
  const onSearch = (asked: UsageSearch): void => void navigate({ search: asked });
  const { grouping, second, from, to } = askedOf(search);
  const groupings = second ? [grouping, second] : [grouping];
  const query = { from, to, ...groupsOf(groupings), livemode };
  const { data, error } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  return (
    <>
      <PageHead title="Usage">Days are those of the account’s time zone, both included. The sums are those of the ledger.</PageHead>
      <div className="filters">
        <Groups search={search} onSearch={onSearch} />
        <Days search={search} onSearch={onSearch} />
      </div>
      <SavedFilters page="usage" search={search} onChoose={onSearch} />
      {!data && <Pending error={error} />}
      {data && <Found usage={data} query={query} groupings={groupings} />}
    </>
  );
}
