import type { KeyBudgetSummaryItem } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { tallygate } from '../client.ts';
import { count, daysAgo, monthStart, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { useMay } from '../session.ts';
import { Badge, CapBar, Empty, Figure, Figures, Loading, PageHead, Panel, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Latency } from './latency.tsx';
import { Refusals } from './refusals.tsx';
import { SpendBy } from './spend-by.tsx';

const SpendChart = lazy(() => import('../ui/spend-chart.tsx'));
/** The last thing on the page: the rest does not wait for it. */
const ProviderStates = lazy(async () => ({ default: (await import('./provider-states.tsx')).ProviderStates }));
const DAYS = 30;

function SpendOfDays() {
  const livemode = useLivemode();
  const query = { from: daysAgo(DAYS - 1), livemode } as const;
  const { data, error } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  if (!data) return <Pending error={error} />;
  const spent = new Map(data.items.map((row) => [row.day, row.cost_usd]));
  const days = Array.from({ length: DAYS }, (_, index) => daysAgo(DAYS - 1 - index));
  return (
    <Suspense fallback={<Loading />}>
      <SpendChart points={days.map((one) => ({ day: one, usd: spent.get(one) ?? '0' }))} />
    </Suspense>
  );
}

const BUDGET: readonly Column<KeyBudgetSummaryItem>[] = [
  {
    name: 'Key',
    cell: ({ key_id: keyId, name }) => (
      <Link to="/keys/$keyId" params={{ keyId }}>
        {name}
      </Link>
    ),
  },
  { name: 'Spent', cell: ({ spent_usd: spent }) => usd(spent), isFigure: true },
  { name: 'Held', cell: ({ held_usd: held }) => usd(held), isFigure: true, isSecondary: true },
  { name: 'Cap', cell: ({ monthly_cap_usd: cap }) => (cap === null ? '–' : usd(cap)), isFigure: true, isSecondary: true },
  {
    name: 'Of the cap',
    cell: (item) => <CapBar spent={item.spent_usd} held={item.held_usd} cap={item.monthly_cap_usd} />,
    isSecondary: true,
  },
  { name: 'State', cell: ({ status }) => <Badge state={status} /> },
];

/** The keys of the mode with the most spent first. */
const ofMode = (items: readonly KeyBudgetSummaryItem[], livemode: boolean): KeyBudgetSummaryItem[] =>
  items.filter((item) => item.livemode === livemode && !item.revoked).sort((a, b) => Number(b.spent_usd) - Number(a.spent_usd));

function Budgets() {
  const livemode = useLivemode();
  const { data, error } = useQuery({ queryKey: ['budgets'], queryFn: () => tallygate.budgets.summary() });
  if (!data) return <Pending error={error} />;
  const items = ofMode(data.items, livemode);
  if (items.length > 0) return <Table label="Budgets of keys" rows={items} columns={BUDGET} idOf={({ key_id: id }) => id} />;
  return (
    <Empty title={`No ${livemode ? 'live' : 'test'} keys yet`}>
      <Link to="/keys">Create an API key</Link>, with a monthly cap: nothing can be spent beyond it.
    </Empty>
  );
}

function ThisMonth() {
  const livemode = useLivemode();
  const query = { from: monthStart(), livemode } as const;
  const { data, error } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  const budgets = useQuery({ queryKey: ['budgets'], queryFn: () => tallygate.budgets.summary() });
  if (!data) return <Pending error={error} />;
  const { total } = data;
  return (
    <Figures>
      <Figure label="Spent this month" value={usd(total.cost_usd)} note={`${usd(total.charged_usd)} of it beyond the plan’s quota`} />
      <Figure
        label="Held now"
        value={budgets.data ? usd(budgets.data.held_usd) : '…'}
        note="by running live requests, at their worst case"
      />
      <Figure label="Requests" value={count(total.requests)} />
      <Figure label="Tokens" value={`${count(total.input_tokens)} in`} note={`${count(total.output_tokens)} out`} />
    </Figures>
  );
}

/** For somebody who has just signed in: gone with the first request. */
function FirstSteps() {
  const livemode = useLivemode();
  const mayUse = useMay('use models');
  const query = { from: daysAgo(DAYS - 1), livemode } as const;
  const { data } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  if (!mayUse || data?.total.requests !== 0) return null;
  return (
    <Panel title="First steps">
      <ol className="first-steps">
        <li>
          <Link to="/keys" search={{ create: 'yes' }}>
            Create an API key
          </Link>{' '}
          with a monthly cap: nothing can be spent beyond it.
        </li>
        <li>
          Ask a model in the <Link to="/playground">playground</Link>, or point any OpenAI client at this gateway. Test keys cost nothing.
        </li>
        <li>
          Look at the <Link to="/requests">request</Link>: what it cost line by line, and its receipt, which this browser verifies.
        </li>
      </ol>
    </Panel>
  );
}

export function Overview() {
  return (
    <>
      <PageHead title="Overview">What is spent and held, as it is now. Months and days are UTC.</PageHead>
      <FirstSteps />
      <ThisMonth />
      <Panel title={`Spent, last ${DAYS} days`}>
        <SpendOfDays />
      </Panel>
      <Panel title="Keys this month">
        <Budgets />
      </Panel>
      <SpendBy />
      <Panel title="Refused">
        <Refusals />
      </Panel>
      <Panel title="Latency, last day">
        <Latency />
      </Panel>
      <Suspense fallback={<Loading />}>
        <ProviderStates />
      </Suspense>
    </>
  );
}
