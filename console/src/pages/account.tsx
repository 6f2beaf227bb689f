import type { AccountResponse, UserResponse } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { AuditEntries } from '../audit/entries.tsx';
import { tallygate } from '../client.ts';
import { count, day, moment, monthStart, usd } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { GivePlan, ReserveCapacity, ResetSecondFactor, ServiceRole } from '../operator/account-dialogs.tsx';
import { useMe } from '../session.ts';
import { Badge, Facts, Figure, Figures, Mono, PageHead, PagePending, Panel, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

interface UserAction {
  readonly user: UserResponse;
  readonly what: 'role' | 'reset';
}

const columnsOf = (me: string, onAct: (action: UserAction) => void): readonly Column<UserResponse>[] => [
  { name: 'E-mail address', cell: ({ email }) => email },
  { name: 'In the account', cell: ({ account_role: role }) => <Badge state={role} />, isSecondary: true },
  { name: 'In the service', cell: ({ role }) => <Badge state={role} />, isSecondary: true },
  { name: 'Second factor', cell: ({ mfa_enabled: isOn }) => (isOn ? 'on' : 'off'), isSecondary: true },
  { name: 'Since', cell: ({ created_at: at }) => day(at), isSecondary: true },
  {
    name: 'Change',
    isAction: true,
    cell: (user) =>
      user.user_id !== me && (
        <span className="row-actions">
          <button type="button" onClick={() => onAct({ user, what: 'role' })}>
            Role
          </button>
          <button type="button" className="danger" onClick={() => onAct({ user, what: 'reset' })}>
            Reset MFA
          </button>
        </span>
      ),
  },
];

/** Its users, found by the addresses that the account names. */
function Users({ account }: { account: AccountResponse }) {
  const { user_id: me } = useMe();
  const [acted, setActed] = useState<UserAction>();
  const { data, error } = useQuery({
    queryKey: ['account-users', account.account_id, account.emails],
    queryFn: async () => {
      const pages = await Promise.all(account.emails.map((email) => tallygate.users.list({ email })));
      return pages.flatMap((page) => page.data);
    },
  });
  if (!data) return <Pending error={error} />;
  const close = (): void => setActed(undefined);
  return (
    <>
      <Table label="People of the account" rows={data} columns={columnsOf(me, setActed)} idOf={({ user_id: id }) => id} />
      {acted?.what === 'role' && <ServiceRole user={acted.user} onClose={close} />}
      {acted?.what === 'reset' && <ResetSecondFactor user={acted.user} onClose={close} />}
    </>
  );
}

function Spending({ accountId }: { accountId: string }) {
  const livemode = useLivemode();
  const query = { from: monthStart(), account_id: accountId, livemode };
  const { data, error } = useQuery({ queryKey: ['usage', 'of-all', query], queryFn: () => tallygate.usage.getOfAll(query) });
  if (!data) return <Pending error={error} />;
  return (
    <Figures>
      <Figure label="Requests this month" value={count(data.total.requests)} />
      <Figure label="Cost this month" value={usd(data.total.cost_usd)} note="at catalogue prices" />
      <Figure label="Charged this month" value={usd(data.total.charged_usd)} note="beyond the plan’s quota" />
    </Figures>
  );
}

function About({ account }: { account: AccountResponse }) {
  const { given_plan: givenPlan, dedicated_capacity: capacity } = account;
  return (
    <Facts
      facts={[
        ['Plan', `${account.plan_id}, version ${account.plan_version}`],
        [
          'Given by an operator',
          givenPlan ? `${givenPlan.plan_id}${givenPlan.version === null ? '' : `, version ${givenPlan.version}`}` : 'nothing',
        ],
        ['Pays for', account.subscription_plan_id ?? 'no subscription'],
        [
          'Reserved capacity',
          capacity
            ? `${count(capacity.requests_per_minute)} requests and ${count(capacity.tokens_per_minute)} tokens a minute, ${count(capacity.concurrency)} at the same time`
            : 'none',
        ],
        ['Created', moment(account.created_at)],
      ]}
    />
  );
}

function Detail({ account }: { account: AccountResponse }) {
  const [open, setOpen] = useState<'plan' | 'capacity'>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <PageHead
        title={account.name}
        aside={
          <>
            <button type="button" onClick={() => setOpen('plan')}>
              Give a plan
            </button>
            <button type="button" onClick={() => setOpen('capacity')}>
              Reserve capacity
            </button>
          </>
        }
      >
        Account <Mono>{account.account_id}</Mono>
      </PageHead>
      <Spending accountId={account.account_id} />
      <Panel title="About it">
        <About account={account} />
      </Panel>
      <Panel title="People">
        <Users account={account} />
      </Panel>
      <Panel title="Audit log">
        <AuditEntries filter={{}} accountId={account.account_id} />
      </Panel>
      {open === 'plan' && <GivePlan account={account} onClose={close} />}
      {open === 'capacity' && <ReserveCapacity account={account} onClose={close} />}
    </>
  );
}

export function AccountPage() {
  const { accountId } = useParams({ from: '/frame/accounts/$accountId' });
  const { data, error } = useQuery({ queryKey: ['account', accountId], queryFn: () => tallygate.accounts.get(accountId) });
  return data ? <Detail account={data} /> : <PagePending error={error} />;
}
