import type { SetLimitRequest, SpendingLimit } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { usd } from '../format.ts';
import { Confirm, Dialog, Field, Form, given, Select } from '../ui/dialog.tsx';
import { Empty, Failure, Loading, PageHead } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const LIMITS = ['limits'] as const;
const MOST = 200;

const KINDS = [
  ['account', 'The account'],
  ['project', 'Project'],
  ['member', 'Member'],
  ['key', 'API key'],
  ['end_user', 'End user'],
  ['tag', 'Tag'],
  ['model', 'Model'],
] as const satisfies readonly (readonly [SetLimitRequest['kind'], string])[];

const PERIODS = [
  ['hour', 'an hour'],
  ['day', 'a day'],
  ['week', 'a week'],
  ['month', 'a month'],
  ['lifetime', 'for ever'],
] as const satisfies readonly (readonly [SetLimitRequest['period'], string])[];

const kindOf = (kind: string): string => KINDS.find(([name]) => name === kind)?.[1] ?? kind;
const wholeOf = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

function EditLimit({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const save = async (fields: FormData): Promise<void> => {
    await tallygate.limits.set({
      kind: fields.get('kind') as SetLimitRequest['kind'],
      subject: given(fields, 'subject') ?? null,
      period: fields.get('period') as SetLimitRequest['period'],
      cap_usd: given(fields, 'cap') ?? null,
      requests_per_minute: wholeOf(given(fields, 'requests')),
      tokens_per_minute: wholeOf(given(fields, 'tokens')),
    });
    await client.invalidateQueries({ queryKey: LIMITS });
    onClose();
  };
  return (
    <Dialog title="Set a limit" onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <Select name="kind" label="Of" options={KINDS} />
        <Field
          name="subject"
          label="Which"
          hint="An id, an end user, or a tag as name=value. Empty: the default for all others of this kind."
          autoComplete="off"
        />
        <Field name="cap" label="Cap, USD" inputMode="decimal" />
        <Select name="period" label="For" options={PERIODS} defaultValue="month" />
        <Field name="requests" label="Requests a minute" inputMode="numeric" />
        <Field name="tokens" label="Tokens a minute" inputMode="numeric" />
      </Form>
    </Dialog>
  );
}

const columnsOf = (onRemove: (limit: SpendingLimit) => void): readonly Column<SpendingLimit>[] => [
  { name: 'Of', cell: ({ kind }) => kindOf(kind) },
  { name: 'Which', cell: ({ kind, subject }) => subject ?? (kind === 'account' ? '' : 'each') },
  {
    name: 'Cap',
    cell: ({ cap_usd: cap, period }) => (cap === null ? '–' : `${usd(cap)} ${PERIODS.find(([name]) => name === period)?.[1]}`),
    isFigure: true,
  },
  { name: 'Requests a minute', cell: ({ requests_per_minute: rate }) => rate ?? '–', isFigure: true, isSecondary: true },
  { name: 'Tokens a minute', cell: ({ tokens_per_minute: rate }) => rate ?? '–', isFigure: true, isSecondary: true },
  {
    name: 'Remove',
    cell: (limit) => (
      <button type="button" onClick={() => onRemove(limit)}>
        Remove
      </button>
    ),
  },
];

export function LimitsPage() {
  const client = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const [removed, setRemoved] = useState<SpendingLimit>();
  const { data, error } = useQuery({ queryKey: LIMITS, queryFn: async () => tallygate.limits.list({ limit: MOST }) });
  const remove = async (): Promise<void> => {
    if (removed) await tallygate.limits.delete(removed.limit_id);
    await client.invalidateQueries({ queryKey: LIMITS });
  };
  const set = (
    <button type="button" className="primary" onClick={() => setEditing(true)}>
      Set a limit
    </button>
  );
  return (
    <>
      <PageHead title="Limits" aside={set}>
        Every request is held against all that concern it at once; the first that is full refuses, and says which it is.
      </PageHead>
      {error && <Failure error={error} />}
      {!error && !data && <Loading />}
      {data && data.data.length > 0 && (
        <Table label="Limits" rows={data.data} columns={columnsOf(setRemoved)} idOf={({ limit_id: id }) => id} />
      )}
      {data?.data.length === 0 && (
        <Empty title="No limits yet">Cap what a project, a member, an end user, a tag or a model may spend.</Empty>
      )}
      {isEditing && <EditLimit onClose={() => setEditing(false)} />}
      {removed && (
        <Confirm title="Remove the limit?" action="Remove" onConfirm={remove} onClose={() => setRemoved(undefined)}>
          {kindOf(removed.kind)} {removed.subject ?? ''} may then spend up to the other limits that concern it.
        </Confirm>
      )}
    </>
  );
}
