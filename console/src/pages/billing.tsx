import type { PlanInvoiceSummary, PlanMeterUsage } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { count, day, usd } from '../format.ts';
import { Badge, Empty, Failure, Figure, Figures, Loading, PageHead, Panel } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const METERS: readonly Column<PlanMeterUsage>[] = [
  { name: 'Of the plan', cell: ({ meter }) => meter.replaceAll('_', ' ') },
  { name: 'Used', cell: ({ used }) => count(used), isFigure: true },
  { name: 'Included', cell: ({ included }) => (included === null ? 'no limit' : count(included)), isFigure: true },
  { name: 'Beyond', cell: ({ beyond }) => count(beyond), isFigure: true },
];

function Plan() {
  const plan = useQuery({ queryKey: ['plan'], queryFn: () => tallygate.plans.current() });
  const usage = useQuery({ queryKey: ['plan-usage'], queryFn: () => tallygate.plans.usage() });
  const error = plan.error ?? usage.error;
  if (error) return <Failure error={error} />;
  if (!plan.data || !usage.data) return <Loading />;
  const { plan: config, subscription, livemode } = plan.data;
  return (
    <>
      <Figures>
        <Figure
          label="Plan"
          value={config.name}
          note={livemode ? subscription.status : 'of the payment sandbox: it changes nothing that is live'}
        />
        <Figure label="Price" value={`${usd(config.monthly_price_usd)} a month`} />
        <Figure label="Beyond the quota this month" value={usd(usage.data.charged_usd)} />
        <Figure label="Renews" value={day(subscription.period_end)} />
      </Figures>
      <Table label="Quota of this month" rows={usage.data.meters} columns={METERS} idOf={({ meter }) => meter} />
    </>
  );
}

const INVOICES: readonly Column<PlanInvoiceSummary>[] = [
  { name: 'Invoice', cell: ({ number, invoice_id: id }) => number ?? id },
  { name: 'Month', cell: ({ period }) => period },
  { name: 'Of', cell: ({ kind }) => kind, isSecondary: true },
  { name: 'State', cell: ({ status }) => <Badge state={status} tone={status === 'paid' ? 'good' : 'wait'} /> },
  { name: 'Due', cell: ({ due_usd: due }) => usd(due), isFigure: true },
];

function Invoices() {
  const { data, error } = useQuery({ queryKey: ['plan-invoices'], queryFn: async () => tallygate.plans.invoices() });
  if (error) return <Failure error={error} />;
  if (!data) return <Loading />;
  if (data.data.length === 0)
    return <Empty title="No invoices yet">What is used beyond the plan’s quota is billed when the month is over.</Empty>;
  return <Table label="Invoices" rows={data.data} columns={INVOICES} idOf={({ invoice_id: id }) => id} />;
}

export function Billing() {
  return (
    <>
      <PageHead title="Plan and invoices">What the account has, what it used of it, and what it owes.</PageHead>
      <Panel title="Plan">
        <Plan />
      </Panel>
      <Panel title="Invoices">
        <Invoices />
      </Panel>
    </>
  );
}
