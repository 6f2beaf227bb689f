import type { InvoiceListItem, PlanInvoiceSummary, PlanPayment } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, day, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { ReturnPayment } from '../operator/return-payment.tsx';
import { useMay } from '../session.ts';
import { Badge, Empty, Pending } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';
import { type Column, Table } from '../ui/table.tsx';

const MOST = 100;

const BILLS: readonly Column<InvoiceListItem>[] = [
  {
    name: 'Month',
    cell: ({ month }) => (
      <Link to="/bills/$month" params={{ month }}>
        {month}
      </Link>
    ),
  },
  { name: 'Receipts', cell: ({ receipts }) => count(receipts), isFigure: true, isSecondary: true },
  { name: 'Cost', cell: ({ cost_usd: cost }) => usd(cost), isFigure: true },
  { name: 'By the plan', cell: ({ covered_usd: covered }) => usd(covered), isFigure: true, isSecondary: true },
  { name: 'Charged', cell: ({ total_usd: total }) => usd(total), isFigure: true },
  { name: 'Entry of the log', cell: ({ log_index: index }) => index ?? 'waits for its place', isFigure: true, isSecondary: true },
];

/** The signed bills of the months: each is checked in the browser, on its own page. */
export function Bills() {
  const livemode = useLivemode();
  const { data, error } = useQuery({
    queryKey: ['bills', livemode],
    queryFn: async () => tallygate.invoices.list({ livemode, limit: MOST }),
  });
  if (!data) return <Pending error={error} />;
  if (data.data.length === 0)
    return <Empty title="No bills yet">A month is billed in the first hours of the next: what its receipts come to, signed.</Empty>;
  return <Table label="Bills of months" rows={data.data} columns={BILLS} idOf={({ id }) => id} />;
}

async function print({ invoice_id: id, number }: PlanInvoiceSummary): Promise<void> {
  const page = await tallygate.plans.printInvoice(id);
  saveFile(`invoice-${number ?? id}.html`, await page.text(), 'text/html');
}

const INVOICES: readonly Column<PlanInvoiceSummary>[] = [
  { name: 'Invoice', cell: ({ number, invoice_id: id }) => number ?? id },
  { name: 'Month', cell: ({ period }) => period },
  { name: 'Of', cell: ({ kind }) => kind, isSecondary: true },
  { name: 'State', cell: ({ status }) => <Badge state={status} tone={status === 'paid' ? 'good' : 'wait'} /> },
  { name: 'Total', cell: ({ total_usd: total }) => usd(total), isFigure: true, isSecondary: true },
  { name: 'Due', cell: ({ due_usd: due }) => usd(due), isFigure: true },
  {
    name: 'Paper',
    cell: (invoice) =>
      invoice.hosted_url === null ? (
        <button type="button" onClick={() => void print(invoice)}>
          Save
        </button>
      ) : (
        <a href={invoice.hosted_url} target="_blank" rel="noreferrer">
          Open
        </a>
      ),
    isSecondary: true,
  },
];

export function Invoices() {
  const { data, error } = useQuery({ queryKey: ['plan-invoices'], queryFn: async () => tallygate.plans.invoices({ limit: MOST }) });
  if (!data) return <Pending error={error} />;
  if (data.data.length === 0)
    return <Empty title="No invoices yet">What is used beyond the plan’s quota is billed when the month is over.</Empty>;
  return <Table label="Invoices" rows={data.data} columns={INVOICES} idOf={({ invoice_id: id }) => id} />;
}

const PAYMENT_TONES = { pending: 'wait', succeeded: 'good', failed: 'bad', canceled: 'quiet' } as const;

const PAYMENTS: readonly Column<PlanPayment>[] = [
  { name: 'On', cell: ({ created_at: at }) => day(at) },
  { name: 'For', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { name: 'State', cell: ({ status }) => <Badge state={status} tone={PAYMENT_TONES[status]} /> },
  { name: 'Amount', cell: ({ amount_usd: amount }) => usd(amount), isFigure: true },
  { name: 'Refunded', cell: ({ refunded_usd: refunded }) => usd(refunded), isFigure: true, isSecondary: true },
  { name: 'Disputed', cell: ({ disputed_usd: disputed }) => usd(disputed), isFigure: true, isSecondary: true },
];

const returnOf = (onReturn: (payment: PlanPayment) => void): Column<PlanPayment> => ({
  name: 'Change',
  isAction: true,
  cell: (payment) =>
    payment.status === 'succeeded' &&
    payment.refunded_usd !== payment.amount_usd && (
      <button type="button" onClick={() => onReturn(payment)}>
        Return
      </button>
    ),
});

export function Payments() {
  const isOperator = useMay('run the gateway');
  const [returned, setReturned] = useState<PlanPayment>();
  const { data, error } = useQuery({ queryKey: ['plan-payments'], queryFn: async () => tallygate.plans.payments({ limit: MOST }) });
  if (!data) return <Pending error={error} />;
  if (data.data.length === 0) return <Empty title="No payments yet">Top-ups and the plan’s charges appear here.</Empty>;
  return (
    <>
      <Table
        label="Payments"
        rows={data.data}
        columns={isOperator ? [...PAYMENTS, returnOf(setReturned)] : PAYMENTS}
        idOf={({ payment_id: id }) => id}
      />
      {returned && <ReturnPayment payment={returned} onClose={() => setReturned(undefined)} />}
    </>
  );
}
