import type { UsageResponse, UsageRow } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, daysAgo, isoDay, monthStart, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { Empty, Failure, Figure, Figures, Loading, PageHead } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';
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
const groupingsOf = ({ group_by: groups, per }: UsageResponse): Grouping[] => [
  ...(per ? [per] : []),
  ...NAMES.filter((name) => groups.includes(name)),
];

const nameOf = (row: UsageRow, grouping: Grouping): string => row[FIELD_OF[grouping]] ?? '(none)';

const columnsOf = (groupings: readonly Grouping[]): readonly Column<UsageRow>[] => [
  ...groupings.map((grouping) => ({ name: GROUPINGS[grouping], cell: (row: UsageRow) => nameOf(row, grouping) })),
  { name: 'Requests', cell: ({ requests }) => count(requests), isFigure: true },
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

function Found({ usage, query }: { usage: UsageResponse; query: Query }) {
  const { items, total } = usage;
  const groupings = groupingsOf(usage);
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
        columns={columnsOf(groupings)}
        idOf={(row) => groupings.map((grouping) => nameOf(row, grouping)).join(' ')}
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

export function UsagePage() {
  const livemode = useLivemode();
  const [grouping, setGrouping] = useState<Grouping>('day');
  const [second, setSecond] = useState<Grouping>();
  const [from, setFrom] = useState(monthStart());
  const [to, setTo] = useState(isoDay(new Date()));
  const query = { from, to, ...groupsOf(second ? [grouping, second] : [grouping]), livemode };
  const { data, error } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  return (
    <>
      <PageHead title="Usage">Days are those of the account’s time zone, both included. The sums are those of the ledger.</PageHead>
      <div className="filters">
        <label>
          By{' '}
          <select
            value={grouping}
            onChange={({ target }) => {
              setGrouping(target.value as Grouping);
              setSecond(undefined);
            }}
          >
            <Options of={NAMES} />
          </select>
        </label>
        <label>
          and{' '}
          <select value={second ?? ''} onChange={({ target }) => setSecond((target.value || undefined) as Grouping | undefined)}>
            <option value="">nothing else</option>
            <Options of={NAMES.filter((name) => name !== grouping && !(isPeriod(name) && isPeriod(grouping)))} />
          </select>
        </label>
        <label>
          From <input type="date" value={from} max={to} onChange={(event) => event.target.value && setFrom(event.target.value)} />
        </label>
        <label>
          To <input type="date" value={to} min={from} onChange={(event) => event.target.value && setTo(event.target.value)} />
        </label>
        <button type="button" onClick={() => setFrom(daysAgo(29))}>
          Last 30 days
        </button>
      </div>
      {error && <Failure error={error} />}
      {!error && !data && <Loading />}
      {data && <Found usage={data} query={query} />}
    </>
  );
}
