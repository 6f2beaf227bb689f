import type { CreateKeyRequest, KeyCreatedResponse, KeyResponse } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { moment, usd } from '../format.ts';
import { freshKey } from '../fresh-key.ts';
import { KeyFields, keyIn } from '../keys/key-fields.tsx';
import { modeOf, useLivemode } from '../mode.ts';
import { useMay } from '../session.ts';
import { Dialog, Field, Form, given, Select } from '../ui/dialog.tsx';
import { Badge, Empty, Mono, PageHead, Pending } from '../ui/parts.tsx';
import { Secret } from '../ui/secret.tsx';
import { type Column, Table } from '../ui/table.tsx';

const COLUMNS: readonly Column<KeyResponse>[] = [
  {
    name: 'Name',
    cell: ({ key_id: keyId, name }) => (
      <Link to="/keys/$keyId" params={{ keyId }}>
        {name}
      </Link>
    ),
  },
  {
    name: 'Key',
    cell: ({ prefix }) => (
      <span className="one-line">
        <Mono>{prefix}…</Mono>
      </span>
    ),
    isSecondary: true,
  },
  { name: 'State', cell: ({ status }) => <Badge state={status} /> },
  { name: 'Monthly cap', cell: ({ monthly_cap_usd: cap }) => (cap === null ? 'none' : usd(cap)), isFigure: true },
  { name: 'May', cell: ({ scopes }) => scopes.join(', '), isSecondary: true },
  { name: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : moment(at)), isSecondary: true },
];

const MODES = [
  ['true', 'Live: reaches the providers, and costs money'],
  ['false', 'Test: the sandbox answers, and nothing is billed'],
] as const;

/** What a new key has beside its name, mode and cap. */
function settingsIn(fields: FormData): Partial<CreateKeyRequest> {
  const { scopes, expires_at: expires, allowed_models: models, allowed_endpoints: endpoints, rate_limits: rates } = keyIn(fields);
  const project = given(fields, 'project');
  return {
    ...{ scopes, allowed_models: models, allowed_endpoints: endpoints, rate_limits: rates },
    ...(expires !== null && { expires_at: expires }),
    ...(project !== undefined && { project_id: project }),
  };
}

function NewKey({ onCreated, onClose }: { onCreated: (key: KeyCreatedResponse) => void; onClose: () => void }) {
  const livemode = useLivemode();
  const client = useQueryClient();
  const create = async (fields: FormData): Promise<void> => {
    const cap = given(fields, 'cap');
    const created = await tallygate.keys.create({
      name: given(fields, 'name') ?? '',
      livemode: fields.get('livemode') === 'true',
      ...(cap !== undefined && { monthly_cap_usd: cap }),
      ...settingsIn(fields),
    });
    freshKey.keep(created.key);
    await client.invalidateQueries({ queryKey: ['keys'] });
    await client.invalidateQueries({ queryKey: ['budgets'] });
    onCreated(created);
  };
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      <Form action="Create" onSubmit={create} onCancel={onClose}>
        <Field name="name" label="Name" placeholder="production" isRequired autoComplete="off" />
        <Select name="livemode" label="Mode" options={MODES} defaultValue={String(livemode)} />
        <Field
          name="cap"
          label="Monthly cap, USD"
          inputMode="decimal"
          placeholder="25"
          hint="No request runs that could cost more than what is left of it. Empty: no cap."
        />
        <details>
          <summary>Scopes, models, expiry, rate limits</summary>
          <div className="fields">
            <KeyFields />
          </div>
        </details>
      </Form>
    </Dialog>
  );
}

/** The secret of a key, with the way to try it. */
export function KeySecret({ created, onClose }: { created: KeyCreatedResponse; onClose: () => void }) {
  return (
    <Secret title={`The key “${created.name}”`} secret={created.key} onClose={onClose}>
      <Link to="/playground" className="button primary">
        Try it in the playground
      </Link>
    </Secret>
  );
}

export function Keys() {
  const livemode = useLivemode();
  const navigate = useNavigate({ from: '/keys' });
  const isCreating = useSearch({ from: '/frame/keys' }).create !== undefined;
  const setCreating = (isOpen: boolean): void => void navigate({ search: isOpen ? { create: 'yes' } : {}, replace: true });
  const [created, setCreated] = useState<KeyCreatedResponse>();
  const { data, error } = useQuery({ queryKey: ['keys'], queryFn: () => tallygate.keys.list() });
  const rows = data?.filter((key) => key.livemode === livemode) ?? [];
  const show = (key: KeyCreatedResponse): void => {
    // In the list behind it, whichever mode was shown.
    void navigate({ search: { mode: modeOf(key.livemode) }, replace: true });
    setCreated(key);
  };
  const mayCreate = useMay('manage keys');
  const create = mayCreate && (
    <button type="button" className="primary" onClick={() => setCreating(true)}>
      Create a key
    </button>
  );
  return (
    <>
      <PageHead title="API keys" aside={create}>
        Each key has its own cap and scopes.
      </PageHead>
      {!data && <Pending error={error} />}
      {rows.length > 0 && <Table label="API keys" rows={rows} columns={COLUMNS} idOf={({ key_id: id }) => id} />}
      {data && rows.length === 0 && (
        <Empty title={`No ${livemode ? 'live' : 'test'} keys`}>
          Create one: any OpenAI client takes it, with this gateway’s address as its base URL.
        </Empty>
      )}
      {isCreating && mayCreate && <NewKey onCreated={show} onClose={() => setCreating(false)} />}
      {created && <KeySecret created={created} onClose={() => setCreated(undefined)} />}
    </>
  );
}
