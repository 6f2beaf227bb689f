import type { SpendingLimit, UsageRow } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, monthStart, usd } from '../format.ts';
import { periodName } from '../limits/kinds.ts';
import { LIMITS, LimitDialog } from '../limits/limit-dialog.tsx';
import { LimitSpend } from '../limits/limit-spend.tsx';
import { useLivemode } from '../mode.ts';
import { useMay } from '../session.ts';
import { Empty, PageHead, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';

type Kind = 'end_user' | 'tag';
const MOST = 200;
const NAMES = { end_user: 'End users', tag: 'Tags' } as const;

/** One of them, with what it spent this month and the limit of its own, if it has one. */
interface Spender {
  readonly name: string;
  readonly usage: UsageRow | undefined;
  readonly limit: SpendingLimit | undefined;
}

/** Those that spent this month, then those that only have a limit; the most spent first. */
function spendersOf(kind: Kind, rows: readonly UsageRow[], limits: readonly SpendingLimit[]): readonly Spender[] {
  const usageOf = new Map(rows.flatMap((row) => (typeof row[kind] === 'string' ? [[row[kind], row] as const] : [])));
  const limitOf = new Map(limits.flatMap((limit) => (limit.subject === null ? [] : [[limit.subject, limit] as const])));
  return [...new Set([...usageOf.keys(), ...limitOf.keys()])]
    .map((name) => ({ name, usage: usageOf.get(name), limit: limitOf.get(name) }))
    .toSorted((a, b) => Number(b.usage?.cost_usd ?? 0) - Number(a.usage?.cost_usd ?? 0));
}

const columnsOf = (kind: Kind, onEdit: ((spender: Spender) => void) | undefined): readonly Column<Spender>[] => [
  { name: kind === 'tag' ? 'Tag' : 'End user', cell: ({ name }) => name },
  { name: 'Requests', cell: ({ usage }) => count(usage?.requests ?? 0), isFigure: true, isSecondary: true },
  { name: 'Spent this month', cell: ({ usage }) => usd(usage?.cost_usd ?? '0'), isFigure: true },
  {
    name: 'Cap',
    cell: ({ limit }) => (limit?.cap_usd ? `${usd(limit.cap_usd)} ${periodName(limit.period)}` : '–'),
    isFigure: true,
  },
  { name: 'Spent of it', cell: ({ limit }) => (limit ? <LimitSpend limit={limit} /> : '–'), isSecondary: true },
  ...(onEdit
    ? [
        {
          name: 'Limit',
          isAction: true as const,
          cell: (spender: Spender) => (
            <button type="button" onClick={() => onEdit(spender)}>
              {spender.limit ? 'Edit' : 'Set'}
            </button>
          ),
        },
      ]
    : []),
];

const HOW = {
  end_user: (
    <>
      Send <code>X-End-User: customer-42</code> with a request, or <code>user</code> in its body: what each of them spends is counted, and
      can be capped.
    </>
  ),
  tag: (
    <>
      Send <code>X-Tags: feature=search</code> with a request, up to five pairs: what each of them spends is counted, and can be capped.
    </>
  ),
} as const;

function Spenders({ kind }: { kind: Kind }) {
  const livemode = useLivemode();
  const mayManage = useMay('manage account');
  const [edited, setEdited] = useState<Spender>();
  const query = { from: monthStart(), group_by: kind, livemode } as const;
  const usage = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  const limits = useQuery({ queryKey: [...LIMITS, kind], queryFn: async () => tallygate.limits.list({ kind, limit: MOST }) });
  const error = usage.error ?? limits.error;
  if (!usage.data || !limits.data) return <Pending error={error} />;
  const rows = spendersOf(kind, usage.data.items, limits.data.data);
  if (rows.length === 0) return <Empty title={`No ${NAMES[kind].toLowerCase()} this month`}>{HOW[kind]}</Empty>;
  return (
    <>
      <Table label={NAMES[kind]} rows={rows} columns={columnsOf(kind, mayManage ? setEdited : undefined)} idOf={({ name }) => name} />
      {edited && (
        <LimitDialog
          {...(edited.limit && { limit: edited.limit })}
          about={{ kind, subject: edited.name }}
          onClose={() => setEdited(undefined)}
        />
      )}
    </>
  );
}

export function EndUsers() {
  const kind: Kind = useSearch({ from: '/frame/end-users' }).kind === 'tag' ? 'tag' : 'end_user';
  const navigate = useNavigate({ from: '/end-users' });
  return (
    <>
      <PageHead title="Tags and end users">Whom and what requests are for, as their headers say, with what it costs.</PageHead>
      <Tabs
        label="Lists"
        tabs={[
          ['end_user', NAMES.end_user],
          ['tag', NAMES.tag],
        ]}
        shown={kind}
        onShow={(tab) => void navigate({ search: tab === 'tag' ? { kind: tab } : {} })}
      />
      <Spenders kind={kind} />
    </>
  );
}
