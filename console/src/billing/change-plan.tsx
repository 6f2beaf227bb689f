import type { CurrentPlanResponse, PlanConfigResponse, PlanDowngradePreviewResponse, PlanUpgradePreviewResponse } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, day, usd } from '../format.ts';
import { Confirm, Dialog, Form } from '../ui/dialog.tsx';
import { Badge, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

/** Where the payment page leads back to. */
export const backHere = (): { success_url: string; cancel_url: string } => ({
  success_url: `${location.origin}/console/billing`,
  cancel_url: `${location.origin}/console/billing`,
});

export function useBillingReload(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ predicate: ({ queryKey: [name] }) => String(name).startsWith('plan') });
}

const isDearer = (plan: PlanConfigResponse, { plan: current }: CurrentPlanResponse): boolean =>
  Number(plan.monthly_price_usd) > Number(current.monthly_price_usd);

const quotaOf = ({ quota }: PlanConfigResponse): string =>
  quota.tokens === null
    ? 'no limit'
    : `${count(quota.tokens)} tokens${quota.requests === null ? '' : `, ${count(quota.requests)} requests`}`;

type Preview = PlanUpgradePreviewResponse | PlanDowngradePreviewResponse;

function Changes({ preview }: { preview: Preview }) {
  const text = (value: Preview['changes'][number]['from']): string => {
    if (value === null) return 'no limit';
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    return typeof value === 'number' ? count(value) : value;
  };
  return (
    <dl className="facts">
      {preview.changes.map(({ entitlement, from, to }) => (
        <div key={entitlement}>
          <dt>{entitlement.replaceAll('_', ' ')}</dt>
          <dd>
            {text(from)} → {text(to)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ChangeProps {
  readonly plan: PlanConfigResponse;
  readonly onClose: () => void;
}

/** At once: on a hosted page, or charged to the card that pays already. */
function Upgrade({ plan, onClose }: ChangeProps) {
  const reload = useBillingReload();
  const { data, error } = useQuery({
    queryKey: ['plan-preview', plan.plan_id],
    queryFn: () => tallygate.plans.previewUpgrade(plan.plan_id),
  });
  const get = async (): Promise<void> => {
    const prorated = data && !data.requires_checkout ? { prorated_at: data.effective_at } : {};
    const { checkout_url: url } = await tallygate.plans.checkout({ plan_id: plan.plan_id, ...backHere(), ...prorated });
    if (url !== null) location.assign(url);
    await reload();
    onClose();
  };
  return (
    <Dialog title={`Upgrade to ${plan.name}`} onClose={onClose}>
      {!data && <Pending error={error} />}
      {data && (
        <Form action={data.requires_checkout ? 'Go to the payment page' : `Pay ${usd(data.due_now_usd)}`} onSubmit={get} onCancel={onClose}>
          <Changes preview={data} />
          <p>
            {usd(data.due_now_usd)} is due now{data.next_charge_at !== null && `, and the next charge is on ${day(data.next_charge_at)}`}.
          </p>
        </Form>
      )}
    </Dialog>
  );
}

/** At the end of the period that is paid for. */
function Downgrade({ plan, onClose }: ChangeProps) {
  const reload = useBillingReload();
  const { data, error } = useQuery({
    queryKey: ['plan-preview', plan.plan_id],
    queryFn: () => tallygate.plans.previewDowngrade(plan.plan_id),
  });
  const schedule = async (): Promise<void> => {
    await tallygate.plans.scheduleDowngrade(plan.plan_id);
    await reload();
    onClose();
  };
  return (
    <Dialog title={`Downgrade to ${plan.name}`} onClose={onClose}>
      {!data && <Pending error={error} />}
      {data && (
        <Form action="Schedule the downgrade" onSubmit={schedule} onCancel={onClose}>
          <Changes preview={data} />
          {data.warnings.map(({ meter, used, included }) => (
            <p key={meter} className="failure">
              {count(used)} {meter.replaceAll('_', ' ')} were used this month; {plan.name} includes {count(included)}.
            </p>
          ))}
          <p>It takes effect on {day(data.effective_at)}.</p>
        </Form>
      )}
    </Dialog>
  );
}

/** What is sold, with the way from the plan of the account to each. */
export function PlanList({ current, mayPay }: { current: CurrentPlanResponse; mayPay: boolean }) {
  const [chosen, setChosen] = useState<PlanConfigResponse>();
  const { data, error } = useQuery({ queryKey: ['plans'], queryFn: () => tallygate.plans.list() });
  if (!data) return <Pending error={error} />;
  const change: Column<PlanConfigResponse> = {
    name: 'Change',
    isAction: true,
    cell: (plan) =>
      plan.plan_id === current.plan.plan_id ? (
        <Badge state="yours" tone="good" />
      ) : (
        <button type="button" onClick={() => setChosen(plan)}>
          {isDearer(plan, current) ? 'Upgrade' : 'Downgrade'}
        </button>
      ),
  };
  const columns: readonly Column<PlanConfigResponse>[] = [
    { name: 'Plan', cell: ({ name }) => name },
    { name: 'A month', cell: ({ monthly_price_usd: price }) => usd(price), isFigure: true },
    { name: 'Includes', cell: quotaOf, isSecondary: true },
    { name: 'Beyond it', cell: ({ overage }) => overage.policy, isSecondary: true },
    ...(mayPay ? [change] : []),
  ];
  const close = (): void => setChosen(undefined);
  return (
    <>
      <Table label="Plans" rows={data} columns={columns} idOf={({ plan_id: id }) => id} />
      {chosen && isDearer(chosen, current) && <Upgrade plan={chosen} onClose={close} />}
      {chosen && !isDearer(chosen, current) && <Downgrade plan={chosen} onClose={close} />}
    </>
  );
}

/** Ends the subscription, or takes that back; and what is scheduled. */
export function PlanEnd({ current }: { current: CurrentPlanResponse }) {
  const reload = useBillingReload();
  const [isCanceling, setCanceling] = useState(false);
  const { subscription, scheduled_downgrade: downgrade, plan } = current;
  const after = (what: () => Promise<unknown>) => async (): Promise<void> => {
    await what();
    await reload();
  };
  const canCancel = subscription.status !== 'none' && subscription.status !== 'canceled' && !subscription.cancels_at_period_end;
  return (
    <div className="form-actions">
      {downgrade?.state === 'scheduled' && (
        <>
          <span>
            {downgrade.to_plan_id} from {day(downgrade.effective_at)} on.
          </span>
          <button type="button" onClick={() => void after(() => tallygate.plans.cancelDowngrade())()}>
            Keep {plan.name}
          </button>
        </>
      )}
      {subscription.cancels_at_period_end && (
        <button type="button" onClick={() => void after(() => tallygate.plans.resume())()}>
          Keep the plan
        </button>
      )}
      {canCancel && (
        <button type="button" className="danger" onClick={() => setCanceling(true)}>
          Cancel the plan
        </button>
      )}
      {isCanceling && (
        <Confirm
          title={`Cancel ${plan.name}?`}
          action="Cancel the plan"
          onConfirm={after(() => tallygate.plans.cancel())}
          onClose={() => setCanceling(false)}
        >
          {plan.name} stays until {day(subscription.period_end)}, and the account is on the free plan then.
        </Confirm>
      )}
    </div>
  );
}
