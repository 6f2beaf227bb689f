import type { AccountResponse } from '@tallygate/sdk';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { day } from '../format.ts';
import { RefundRequest } from '../operator/refund-request.tsx';
import { ReturnPayment } from '../operator/return-payment.tsx';
import { FilterForm } from '../ui/filter-form.tsx';
import { from, Paged } from '../ui/paged.tsx';
import { Empty, Mono, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

const COLUMNS: readonly Column<AccountResponse>[] = [
  {
    name: 'Account',
    cell: ({ account_id: accountId, name }) => (
      <Link to="/accounts/$accountId" params={{ accountId }} className="cut" title={name}>
        {name}
      </Link>
    ),
  },
  {
    name: 'People',
    cell: ({ emails }) => (
      <span className="cut" title={emails.join(', ')}>
        {emails.join(', ')}
      </span>
    ),
    isSecondary: true,
  },
  { name: 'Plan', cell: ({ plan_id: plan }) => plan },
  { name: 'Pays for', cell: ({ subscription_plan_id: plan }) => plan ?? '–', isSecondary: true },
  { name: 'Id', cell: ({ account_id: id }) => <Mono>{id}</Mono>, isSecondary: true },
  { name: 'Created', cell: ({ created_at: at }) => day(at), isSecondary: true },
];

/** All accounts, for those who run the gateway. */
export function AccountsPage() {
  const { email } = useSearch({ from: '/frame/accounts' });
  const navigate = useNavigate({ from: '/accounts' });
  const [open, setOpen] = useState<'refund' | 'return'>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <PageHead
        title="Accounts"
        aside={
          <>
            <button type="button" onClick={() => setOpen('refund')}>
              Refund a request
            </button>
            <button type="button" onClick={() => setOpen('return')}>
              Return a payment
            </button>
          </>
        }
      >
        Everybody who uses this gateway: their plan, their capacity and what they spend.
      </PageHead>
      <FilterForm
        fields={[{ name: 'email', label: 'E-mail address', type: 'search', placeholder: 'ada@example.com' }]}
        filter={{ email }}
        onSearch={(search) => void navigate({ search })}
      />
      <Paged
        name="accounts"
        by={email ?? ''}
        label="Accounts, the newest first"
        columns={COLUMNS}
        idOf={({ account_id: id }) => id}
        read={async (cursor) => tallygate.accounts.list({ ...from(cursor), ...(email !== undefined && { email }) })}
        empty={<Empty title="No such account">Accounts are found by the whole e-mail address of one of their people.</Empty>}
      />
      {open === 'refund' && <RefundRequest onClose={close} />}
      {open === 'return' && <ReturnPayment onClose={close} />}
    </>
  );
}
