import type { WebhookEvent } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { tallygate } from '../client.ts';
import { usd } from '../format.ts';
import { kindName, periodName } from '../limits/kinds.ts';
import { useLivemode } from '../mode.ts';
import { At, Empty, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

/** Events that say why requests were refused; each is told once a cap and period, or once a run. */
const TYPES = ['budget.cap_hit', 'limit.cap_hit', 'run.exhausted'] as const;
type Refused = Extract<WebhookEvent, { type: (typeof TYPES)[number] }>;
const MOST = 20;

const RUN_BOUNDS = { budget: 'its ceiling', calls: 'its calls', deadline: 'its deadline' } as const;

function by(event: Refused): ReactNode {
  switch (event.type) {
    case 'budget.cap_hit':
      return (
        <>
          the cap of key{' '}
          <Link to="/keys/$keyId" params={{ keyId: event.data.key_id }}>
            {event.data.name}
          </Link>
        </>
      );
    case 'limit.cap_hit':
      return `a limit: ${kindName(event.data.kind).toLowerCase()} ${event.data.subject ?? ''}`;
    case 'run.exhausted':
      return (
        <>
          run{' '}
          <Link to="/runs/$runId" params={{ runId: event.data.run_id }}>
            {event.data.run_id}
          </Link>
        </>
      );
    default:
      return event satisfies never;
  }
}

const why = (event: Refused): string =>
  event.type === 'run.exhausted'
    ? `it has used up ${RUN_BOUNDS[event.data.reason]}`
    : `${usd(event.data.required_usd)} more than ${usd(event.data.cap_usd)}${event.type === 'limit.cap_hit' ? ` ${periodName(event.data.period)}` : ' a month'}`;

const COLUMNS: readonly Column<Refused>[] = [
  { name: 'Since', cell: ({ timestamp: at }) => <At at={at} /> },
  { name: 'Refused by', cell: by },
  { name: 'Because', cell: why, isSecondary: true },
];

async function newestOf(): Promise<readonly Refused[]> {
  const pages = await Promise.all(TYPES.map(async (type) => tallygate.webhooks.events({ type, limit: MOST })));
  return pages
    .flatMap(({ data }) => data as readonly Refused[])
    .toSorted((a, b) => b.timestamp.localeCompare(a.timestamp))
    .slice(0, MOST);
}

/** What has refused requests lately, and why. */
export function Refusals() {
  const livemode = useLivemode();
  const { data, error } = useQuery({ queryKey: ['refusals'], queryFn: newestOf });
  if (!data) return <Pending error={error} />;
  // Caps of keys are told without the mode: the name of the key says which it is.
  const rows = data.filter((event) => event.type === 'budget.cap_hit' || event.data.livemode === livemode);
  if (rows.length === 0) return <Empty title="Nothing was refused">Caps, limits and ceilings of runs that were reached appear here.</Empty>;
  return <Table label="Refusals, the newest first" rows={rows} columns={COLUMNS} idOf={({ id }) => id} />;
}
