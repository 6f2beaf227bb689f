import type { CurrentPlanResponse, PlanMeterUsage } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Balance } from '../billing/balance.tsx';
import { PlanEnd, PlanList } from '../billing/change-plan.tsx';
import { Bills, Invoices, Payments } from '../billing/records.tsx';
import { tallygate } from '../client.ts';
import { count, day, usd } from '../format.ts';
import { useMay } from '../session.ts';
import { Figure, Figures, PageHead, Panel, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const METERS: readonly Column<PlanMeterUsage>[] = [
  { name: 'Of the plan', cell: ({ meter }) => meter.replaceAll('_', ' ') },
  { name: 'Used', cell: ({ used }) => count(used), isFigure: true },
  { name: 'Included', cell: ({ included }) => (included === null ? 'no limit' : count(included)), isFigure: true },
  { name: 'Beyond', cell: ({ beyond }) => count(beyond), isFigure: true },
];

function Plan({ current, mayPay }: { current: CurrentPlanResponse; mayPay: boolean }) {
  const { data, error } = useQuery({ queryKey: ['plan-usage'], queryFn: () => tallygate.plans.usage() });
  if (!data) return <Pending error={error} />;
  const { plan, subscription, livemode } = current;
  return (
    <>
      <Figures>
        <Figure
          label="Plan"
          value={plan.name}
          note={
            livemode
              ? subscription.status === 'none'
                ? 'not a subscription'
                : subscription.status
              : 'of the payment sandbox: it changes nothing that is live'
          }
        />
        <Figure label="Price" value={`${usd(plan.monthly_price_usd)} a month`} />
        <Figure label="Beyond the quota this month" value={usd(data.charged_usd)} />
        <Figure label={subscription.cancels_at_period_end ? 'Ends' : 'Renews'} value={day(subscription.period_end)} />
      </Figures>
      <Table label="Quota of this month" rows={data.meters} columns={METERS} idOf={({ meter }) => meter} />
      {mayPay && <PlanEnd current={current} />}
    </>
  );
}

export function Billing() {
  const mayPay = useMay('pay');
  const { data, error } = useQuery({ queryKey: ['plan'], queryFn: () => tallygate.plans.current() });
  return (
    <>
      <PageHead title="Plan and invoices">What the account has, what it used of it, and what it owes.</PageHead>
      {!data && <Pending error={error} />}
      {data && (
        <>
          <Panel title="Plan">
            <Plan current={data} mayPay={mayPay} />
          </Panel>
          <Panel title="Plans">
            <PlanList current={data} mayPay={mayPay} />
          </Panel>
        </>
      )}
      <Panel title="Balance">
        <Balance mayPay={mayPay} />
      </Panel>
      <Panel title="Bills of months">
        <Bills />
      </Panel>
      <Panel title="Invoices">
        <Invoices />
      </Panel>
      <Panel title="Payments">
        <Payments />
      </Panel>
    </>
  );
}
