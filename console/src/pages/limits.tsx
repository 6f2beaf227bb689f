import type { SpendingLimit } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, usd } from '../format.ts';
import { kindName, periodName } from '../limits/kinds.ts';
import { LIMITS, LimitDialog } from '../limits/limit-dialog.tsx';
import { LimitSpend } from '../limits/limit-spend.tsx';
import { useNames } from '../names.ts';
import { useMay } from '../session.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Empty, PageHead, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const MOST = 200;

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<SpendingLimit>[] => [
  { name: 'Of', cell: ({ kind }) => kindName(kind) },
  { name: 'Which', cell: ({ kind, subject }) => (subject === null ? kind !== 'account' && 'each' : (names.get(subject) ?? subject)) },
  { name: 'Cap', cell: ({ cap_usd: cap, period }) => (cap === null ? '–' : `${usd(cap)} ${periodName(period)}`), isFigure: true },
  { name: 'Spent of it', cell: (limit) => <LimitSpend limit={limit} />, isSecondary: true },
  {
    name: 'Requests a minute',
    cell: ({ requests_per_minute: rate }) => (rate === null ? '–' : count(rate)),
    isFigure: true,
    isSecondary: true,
  },
  {
    name: 'Tokens a minute',
    cell: ({ tokens_per_minute: rate }) => (rate === null ? '–' : count(rate)),
    isFigure: true,
    isSecondary: true,
  },
];

const actionsOf = (onEdit: (limit: SpendingLimit) => void, onRemove: (limit: SpendingLimit) => void): Column<SpendingLimit> => ({
  name: 'Change',
  isAction: true,
  cell: (limit) => (
    <span className="row-actions">
      <button type="button" onClick={() => onEdit(limit)}>
        Edit
      </button>
      <button type="button" onClick={() => onRemove(limit)}>
        Remove
      </button>
    </span>
  ),
});

export function LimitsPage() {
  const client = useQueryClient();
  const mayManage = useMay('manage account');
  const [edited, setEdited] = useState<SpendingLimit | 'new'>();
  const [removed, setRemoved] = useState<SpendingLimit>();
  const { data, error } = useQuery({ queryKey: LIMITS, queryFn: async () => tallygate.limits.list({ limit: MOST }) });
  const remove = async (): Promise<void> => {
    if (removed) await tallygate.limits.delete(removed.limit_id);
    await client.invalidateQueries({ queryKey: LIMITS });
  };
  const set = mayManage && (
    <button type="button" className="primary" onClick={() => setEdited('new')}>
      Set a limit
    </button>
  );
  const names = useNames(data?.data.map(({ kind }) => kind) ?? []);
  const columns = mayManage ? [...columnsOf(names), actionsOf(setEdited, setRemoved)] : columnsOf(names);
  return (
    <>
      <PageHead title="Limits" aside={set}>
        Every request is held against all that concern it at once; the first that is full refuses, and says which it is.
      </PageHead>
      {!data && <Pending error={error} />}
      {data && data.data.length > 0 && <Table label="Limits" rows={data.data} columns={columns} idOf={({ limit_id: id }) => id} />}
      {data?.data.length === 0 && (
        <Empty title="No limits yet">Cap what a project, a member, an end user, a tag or a model may spend.</Empty>
      )}
      {edited && <LimitDialog {...(edited !== 'new' && { limit: edited })} onClose={() => setEdited(undefined)} />}
      {removed && (
        <Confirm title="Remove the limit?" action="Remove" onConfirm={remove} onClose={() => setRemoved(undefined)}>
          {kindName(removed.kind)} {removed.subject === null ? '' : (names.get(removed.subject) ?? removed.subject)} may then spend up to
          the other limits that concern it.
        </Confirm>
      )}
    </>
  );
}
