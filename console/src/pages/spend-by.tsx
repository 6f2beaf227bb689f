import type { UsageRow } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { tallygate } from '../client.ts';
import { count, daysAgo, isoDay, monthStart, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { useNames } from '../names.ts';
import { useMay } from '../session.ts';
import { Empty, Panel, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const GROUPINGS = {
  model: 'Model',
  key: 'API key',
  project: 'Project',
  end_user: 'End user',
  tag: 'Tag',
  provider: 'Provider',
} as const;
type Grouping = keyof typeof GROUPINGS;

const MOST = 10;

const groupOf = ({ model, key_id: key, project_id: project, end_user: endUser, tag, provider }: UsageRow): string | null =>
  model ?? key ?? project ?? endUser ?? tag ?? provider ?? null;

interface Naming {
  readonly grouping: Grouping;
  readonly names: ReadonlyMap<string, string>;
  /** The page of a model is for those who may use one. */
  readonly mayUse: boolean;
}

function nameOf(row: UsageRow, { grouping, names, mayUse }: Naming): ReactNode {
  const id = groupOf(row);
  if (id === null) return '(none)';
  const name = names.get(id) ?? id;
  if (grouping === 'key')
    return (
      <Link to="/keys/$keyId" params={{ keyId: id }}>
        {name}
      </Link>
    );
  if (grouping !== 'model' || !mayUse) return name;
  return (
    <Link to="/models/$modelId" params={{ modelId: id }}>
      {name}
    </Link>
  );
}

function Spent({ grouping, from, to }: { grouping: Grouping; from: string; to: string }) {
  const livemode = useLivemode();
  const naming: Naming = { grouping, names: useNames([grouping]), mayUse: useMay('use models') };
  const query = { from, to, group_by: grouping, livemode } as const;
  const { data, error } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  if (!data) return <Pending error={error} />;
  const whole = Number(data.total.cost_usd);
  const columns: readonly Column<UsageRow>[] = [
    { name: GROUPINGS[grouping], cell: (row) => nameOf(row, naming) },
    { name: 'Requests', cell: ({ requests }) => count(requests), isFigure: true },
    { name: 'Cost', cell: ({ cost_usd: cost }) => usd(cost), isFigure: true },
    {
      name: 'Share',
      cell: ({ cost_usd: cost }) => (whole === 0 ? '–' : `${Math.round((100 * Number(cost)) / whole)} %`),
      isFigure: true,
      isSecondary: true,
    },
  ];
  const rows = data.items.toSorted((a, b) => Number(b.cost_usd) - Number(a.cost_usd)).slice(0, MOST);
  if (rows.length === 0) return <Empty title="Nothing was spent">Choose other days, or the other mode.</Empty>;
  return <Table label={`Spent by ${GROUPINGS[grouping]}`} rows={rows} columns={columns} idOf={(row) => groupOf(row) ?? ''} />;
}

/** The most that was spent, by whom and for what, between two days. */
export function SpendBy() {
  const [grouping, setGrouping] = useState<Grouping>('model');
  const [from, setFrom] = useState(monthStart());
  const [to, setTo] = useState(isoDay(new Date()));
  const last = (days: number) => (
    <button type="button" onClick={() => [setFrom(daysAgo(days - 1)), setTo(isoDay(new Date()))]}>
      {days} days
    </button>
  );
  return (
    <Panel title="Spent by">
      <div className="filters">
        <label>
          By{' '}
          <select value={grouping} onChange={({ target }) => setGrouping(target.value as Grouping)}>
            {Object.entries(GROUPINGS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          From <input type="date" value={from} max={to} onChange={({ target }) => target.value && setFrom(target.value)} />
        </label>
        <label>
          To <input type="date" value={to} min={from} onChange={({ target }) => target.value && setTo(target.value)} />
        </label>
        {last(7)}
        {last(30)}
      </div>
      <Spent grouping={grouping} from={from} to={to} />
    </Panel>
  );
}
