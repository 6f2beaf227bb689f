import type { InvoiceCheck, InvoiceResponse } from '@tallygate/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { tallygate } from '../client.ts';
import { decimal, moment, NANO_DIGITS, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { Failure, Figure, Figures, Mono, PageHead, PagePending, Panel } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';
import { type Column, Table } from '../ui/table.tsx';

type Month = InvoiceResponse['payload']['months'][number];
const nano = (amount: string): string => usd(decimal(amount, NANO_DIGITS));

const MONTHS: readonly Column<Month>[] = [
  { name: 'Month', cell: ({ month }) => month },
  { name: 'Receipts', cell: ({ first_number: first, last_number: last }) => `${first}–${last}`, isFigure: true, isSecondary: true },
  { name: 'Used', cell: ({ used_nano_usd: used }) => nano(used), isFigure: true },
  { name: 'Corrected', cell: ({ corrected_nano_usd: corrected }) => nano(corrected), isFigure: true, isSecondary: true },
  { name: 'Refunded', cell: ({ refunded_nano_usd: refunded }) => nano(refunded), isFigure: true, isSecondary: true },
  { name: 'By the plan', cell: ({ covered_nano_usd: covered }) => nano(covered), isFigure: true, isSecondary: true },
  { name: 'From the balance', cell: ({ from_balance_nano_usd: paid }) => nano(paid), isFigure: true },
  { name: 'By invoice', cell: ({ by_invoice_nano_usd: billed }) => nano(billed), isFigure: true },
];

function Verdict({ found }: { found: InvoiceCheck }) {
  if (!found.valid)
    return (
      <p className="failure" role="alert">
        Not valid: {found.reason} ({found.code})
      </p>
    );
  return (
    <div className="verdict" role="status">
      <p className="valid">Valid: checked in this browser.</p>
      <ul className="checks">
        {Object.entries(found.checks).map(([check, state]) => (
          <li key={check}>
            <strong>{check}</strong> {state}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Bill({ invoice }: { invoice: InvoiceResponse }) {
  const verify = useMutation({ mutationFn: () => tallygate.receipts.verifyInvoice(invoice) });
  const { payload, id } = invoice;
  return (
    <>
      <PageHead title={`Bill of ${payload.month}`}>
        <Mono>{id}</Mono>, issued {moment(payload.issued_at)}
      </PageHead>
      <Figures>
        <Figure label="Charged" value={nano(payload.total_nano_usd)} />
        <Figure label="Paid from the balance" value={nano(payload.from_balance_nano_usd)} />
        <Figure label="To be paid" value={nano(payload.due_nano_usd)} note={`${nano(payload.carried_nano_usd)} goes to the next`} />
        <Figure label="Plans" value={payload.plans.map(({ plan }) => plan).join(', ') || '–'} />
      </Figures>
      <Panel title="What its receipts come to">
        <Table label="Months of the bill" rows={payload.months} columns={MONTHS} idOf={({ month }) => month} />
      </Panel>
      <Panel title="Proof">
        <p>
          {invoice.log.state === 'logged' ? `Entry ${invoice.log.index} of the log.` : 'Not in the log yet.'} Its digest is{' '}
          <Mono>{invoice.digest}</Mono>
        </p>
        <div className="form-actions">
          <button type="button" onClick={() => saveFile(`invoice-${payload.month}.json`, JSON.stringify(invoice), 'application/json')}>
            Save as a file
          </button>
          <button type="button" className="primary" disabled={verify.isPending} onClick={() => verify.mutate()}>
            Verify
          </button>
        </div>
        {verify.error && <Failure error={verify.error} />}
        {verify.data && <Verdict found={verify.data} />}
      </Panel>
    </>
  );
}

export function BillPage() {
  const { month } = useParams({ from: '/frame/bills/$month' });
  const livemode = useLivemode();
  const { data, error } = useQuery({ queryKey: ['bill', month, livemode], queryFn: () => tallygate.invoices.get(month, { livemode }) });
  return data ? <Bill invoice={data} /> : <PagePending error={error} />;
}
