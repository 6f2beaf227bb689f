import type { UsageQuery, UsageResponse, UsageRow } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, daysAgo, isoDay, monthStart, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { Empty, Failure, Figure, Figures, Loading, PageHead } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';
import { type Column, Table } from '../ui/table.tsx';

type Grouping = NonNullable<UsageQuery['group_by']>;

const GROUPINGS: Readonly<Record<Grouping, string>> = {
  day: 'Day',
  model: 'Model',
  key: 'API key',
  project: 'Project',
  member: 'Member',
  provider: 'Provider',
  end_user: 'End user',
  tag: 'Tag',
  run: 'Agent run',
  outcome: 'Outcome',
};

const nameOf = ({ day, model, key_id: key, run_id: run, group }: UsageRow): string => day ?? model ?? key ?? run ?? group ?? '(none)';

const columnsOf = (grouping: Grouping): readonly Column<UsageRow>[] => [
  { name: GROUPINGS[grouping], cell: nameOf },
  { name: 'Requests', cell: ({ requests }) => count(requests), isFigure: true },
  { name: 'Tokens in', cell: ({ input_tokens: tokens }) => count(tokens), isFigure: true, isSecondary: true },
  { name: 'Of these cached', cell: ({ cached_input_tokens: tokens }) => count(tokens), isFigure: true, isSecondary: true },
  { name: 'Tokens out', cell: ({ output_tokens: tokens }) => count(tokens), isFigure: true, isSecondary: true },
  { name: 'Cost', cell: ({ cost_usd: cost }) => usd(cost), isFigure: true },
];

const FIELDS = ['requests', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'cost_usd', 'charged_usd'] as const;
/** A cell that a spreadsheet would run as a formula begins with an apostrophe. */
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

function save({ items, group_by: grouping, from, to }: UsageResponse): void {
  const lines = [
    [grouping, ...FIELDS].join(','),
    ...items.map((row) => [cell(nameOf(row)), ...FIELDS.map((field) => row[field])].join(',')),
  ];
  saveFile(`usage-by-${grouping}-${from}-${to}.csv`, `${lines.join('\r\n')}\r\n`, 'text/csv');
}

function Found({ usage }: { usage: UsageResponse }) {
  const { items, total, group_by: grouping } = usage;
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
        <button type="button" onClick={() => save(usage)}>
          Save as CSV
        </button>
      </div>
      <Table label={`Usage by ${GROUPINGS[grouping]}`} rows={items} columns={columnsOf(grouping)} idOf={nameOf} />
    </>
  );
}

export function UsagePage() {
  const livemode = useLivemode();
  const [grouping, setGrouping] = useState<Grouping>('day');
  const [from, setFrom] = useState(monthStart());
  const [to, setTo] = useState(isoDay(new Date()));
  const query = { from, to, group_by: grouping, livemode };
  const { data, error } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  return (
    <>
      <PageHead title="Usage">Days are UTC, both included. The sums are those of the ledger.</PageHead>
      <div className="filters">
        <label>
          By{' '}
          <select value={grouping} onChange={(event) => setGrouping(event.target.value as Grouping)}>
            {Object.entries(GROUPINGS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
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
      {data && <Found usage={data} />}
    </>
  );
}
