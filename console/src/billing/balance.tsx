import type { PlanAutoTopupResponse } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { day, usd } from '../format.ts';
import { Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { Badge, Figure, Figures, Pending } from '../ui/parts.tsx';
import { backHere, useBillingReload } from './change-plan.tsx';

function TopUp({ onClose }: { onClose: () => void }) {
  const pay = async (fields: FormData): Promise<void> => {
    const checkout = await tallygate.plans.topUp({
      amount_usd: given(fields, 'amount') ?? '',
      save_card: fields.get('save') !== null,
      ...backHere(),
    });
    if (checkout.checkout_url !== null) location.assign(checkout.checkout_url);
  };
  return (
    <Dialog title="Top the balance up" onClose={onClose}>
      <Form action="Go to the payment page" onSubmit={pay} onCancel={onClose}>
        <Field name="amount" label="Amount, USD" inputMode="decimal" defaultValue="25" isRequired hint="From $1 to $10,000." />
        <label className="check">
          <input type="checkbox" name="save" /> Keep the card for automatic top-ups
        </label>
      </Form>
    </Dialog>
  );
}

function AutoTopup({ settings, onClose }: { settings: PlanAutoTopupResponse; onClose: () => void }) {
  const reload = useBillingReload();
  const save = async (fields: FormData): Promise<void> => {
    const most = given(fields, 'most');
    await tallygate.plans.setAutoTopup({
      enabled: fields.get('enabled') !== null,
      threshold_usd: given(fields, 'threshold') ?? '5',
      amount_usd: given(fields, 'amount') ?? '25',
      ...(most !== undefined && { daily_maximum_usd: most }),
    });
    await reload();
    onClose();
  };
  const { threshold_usd: threshold, amount_usd: amount, daily_maximum_usd: most } = settings;
  return (
    <Dialog title="Automatic top-up" onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <label className="check">
          <input type="checkbox" name="enabled" defaultChecked={settings.enabled} /> Charge the saved card by itself
        </label>
        <Field name="threshold" label="When the balance is below, USD" inputMode="decimal" defaultValue={threshold ?? '5'} isRequired />
        <Field name="amount" label="Charge, USD" inputMode="decimal" defaultValue={amount ?? '25'} isRequired />
        <Field
          name="most"
          label="At most in 24 hours, USD"
          inputMode="decimal"
          defaultValue={most ?? ''}
          hint="Empty: five times the amount."
        />
      </Form>
    </Dialog>
  );
}

function Alerts({ thresholds, onClose }: { thresholds: readonly string[]; onClose: () => void }) {
  const reload = useBillingReload();
  const save = async (fields: FormData): Promise<void> => {
    await tallygate.plans.setSpendAlerts({ thresholds_usd: (given(fields, 'thresholds') ?? '').split(/[\s,]+/).filter(Boolean) });
    await reload();
    onClose();
  };
  return (
    <Dialog title="Mail at these charges" onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <Field
          name="thresholds"
          label="Charges of a month, USD"
          defaultValue={thresholds.join(', ')}
          hint="At most ten, with commas between them. Empty: no mail."
        />
      </Form>
    </Dialog>
  );
}

type Opened = 'top-up' | 'auto' | 'alerts';

/** The money of the account, and when it is topped up or told of. */
export function Balance({ mayPay }: { mayPay: boolean }) {
  const [open, setOpen] = useState<Opened>();
  const billing = useQuery({ queryKey: ['plan-billing'], queryFn: () => tallygate.plans.billing() });
  const auto = useQuery({ queryKey: ['plan-auto'], queryFn: () => tallygate.plans.autoTopup() });
  const alerts = useQuery({ queryKey: ['plan-alerts'], queryFn: () => tallygate.plans.spendAlerts() });
  const error = billing.error ?? auto.error ?? alerts.error;
  if (!billing.data || !auto.data || !alerts.data) return <Pending error={error} />;
  const { balance_usd: balance, owed_usd: owed, next_charge_at: nextAt, next_charge_usd: next, uninvoiced_usd: open_usd } = billing.data;
  const thresholds = alerts.data.thresholds_usd;
  const close = (): void => setOpen(undefined);
  const button = (what: Opened, label: string) => (
    <button type="button" onClick={() => setOpen(what)}>
      {label}
    </button>
  );
  return (
    <>
      <Figures>
        <Figure label="Balance" value={usd(balance)} />
        <Figure label="Owed" value={usd(owed)} note={open_usd === '0' ? undefined : `${usd(open_usd)} is not invoiced yet`} />
        <Figure label="Next charge" value={next === null ? '–' : usd(next)} note={nextAt === null ? undefined : `on ${day(nextAt)}`} />
        <Figure
          label="Automatic top-up"
          value={<Badge state={auto.data.status} tone={auto.data.status === 'declined' ? 'bad' : 'quiet'} />}
          note={auto.data.decline ?? undefined}
        />
        <Figure
          label="Mail at"
          value={thresholds.length === 0 ? '–' : thresholds.map(usd).join(', ')}
          note={thresholds.length === 0 ? undefined : 'charged in a month'}
        />
      </Figures>
      {mayPay && (
        <div className="form-actions">
          {button('top-up', 'Top up')}
          {button('auto', 'Automatic top-up')}
          {button('alerts', 'Alerts')}
        </div>
      )}
      {open === 'top-up' && <TopUp onClose={close} />}
      {open === 'auto' && <AutoTopup settings={auto.data} onClose={close} />}
      {open === 'alerts' && <Alerts thresholds={thresholds} onClose={close} />}
    </>
  );
}
