import type { ManagementKey, ManagementKeyCreated } from '@tallygate/sdk';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { moment, timeIn } from '../format.ts';
import { wordsIn } from '../keys/key-fields.tsx';
import { managementScopesOf } from '../keys/scopes.ts';
import { useMe } from '../session.ts';
import { Choices } from '../ui/choices.tsx';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { from, Paged, useReload } from '../ui/paged.tsx';
import { At, Badge, Empty, Mono, PageHead } from '../ui/parts.tsx';
import { Secret } from '../ui/secret.tsx';
import type { Column } from '../ui/table.tsx';
import { TextArea } from '../ui/text-area.tsx';

const LIST = 'management-keys';
const GRACE_SECONDS = 3_600;
const FOR_TERRAFORM = ['account:read', 'keys:write', 'projects:write', 'limits:write'] as const;

type OnCreated = (key: ManagementKeyCreated) => void;

function NewKey({ onCreated, onClose }: { onCreated: OnCreated; onClose: () => void }) {
  const me = useMe();
  const reload = useReload(LIST);
  const create = async (fields: FormData): Promise<void> => {
    const addresses = wordsIn(given(fields, 'addresses') ?? '');
    const expires = timeIn(given(fields, 'expires'));
    const created = await tallygate.managementKeys.create({
      name: given(fields, 'name') ?? '',
      scopes: fields.getAll('scope') as ManagementKey['scopes'],
      allowed_addresses: addresses.length === 0 ? null : addresses,
      ...(expires !== null && { expires_at: expires }),
    });
    await reload();
    onCreated(created);
  };
  return (
    <Dialog title="Create a management key" onClose={onClose}>
      <Form action="Create" onSubmit={create} onCancel={onClose}>
        <Field name="name" label="Name" placeholder="terraform" isRequired autoComplete="off" />
        <Choices name="scope" legend="What it may do" options={managementScopesOf(me)} chosen={FOR_TERRAFORM} />
        <TextArea
          name="addresses"
          label="Works from these addresses alone"
          rows={3}
          hint="An IP address or a range such as 203.0.113.0/24, one a line. Empty: from everywhere."
        />
        <Field name="expires" label="Expires" type="datetime-local" hint="In your time zone. Empty: never." />
      </Form>
    </Dialog>
  );
}

interface Asked {
  readonly key: ManagementKey;
  readonly what: 'rotate' | 'revoke';
}

function AskFirst({ asked: { key, what }, onCreated, onClose }: { asked: Asked; onCreated: OnCreated; onClose: () => void }) {
  const reload = useReload(LIST);
  const rotate = async (): Promise<void> => {
    onCreated(await tallygate.managementKeys.rotate(key.management_key_id, { grace_seconds: GRACE_SECONDS }));
    await reload();
  };
  const revoke = async (): Promise<void> => {
    await tallygate.managementKeys.revoke(key.management_key_id);
    await reload();
  };
  if (what === 'rotate')
    return (
      <Confirm title={`Rotate ${key.name}?`} action="Rotate" onConfirm={rotate} onClose={onClose}>
        It gets a new secret, which is shown once. The old one works for another hour.
      </Confirm>
    );
  return (
    <Confirm title={`Revoke ${key.name}?`} action="Revoke the key" onConfirm={revoke} onClose={onClose}>
      The program that uses {key.prefix}… is refused within a second, and no longer administers the account. This cannot be undone.
    </Confirm>
  );
}

const columnsOf = (onAsk: (asked: Asked) => void): readonly Column<ManagementKey>[] => [
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Key', cell: ({ prefix }) => <Mono>{prefix}…</Mono>, isSecondary: true },
  { name: 'State', cell: ({ status }) => <Badge state={status} /> },
  { name: 'May', cell: ({ scopes }) => scopes.join(', '), isSecondary: true },
  { name: 'From', cell: ({ allowed_addresses: addresses }) => addresses?.join(', ') ?? 'everywhere', isSecondary: true },
  { name: 'Expires', cell: ({ expires_at: at }) => (at === null ? 'never' : <At at={at} />), isSecondary: true },
  { name: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : moment(at)), isSecondary: true },
  {
    name: 'Change',
    isAction: true,
    cell: (key) =>
      key.status === 'active' && (
        <span className="row-actions">
          <button type="button" onClick={() => onAsk({ key, what: 'rotate' })}>
            Rotate
          </button>
          <button type="button" className="danger" onClick={() => onAsk({ key, what: 'revoke' })}>
            Revoke
          </button>
        </span>
      ),
  },
];

export function ManagementKeysPage() {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<ManagementKeyCreated>();
  const [asked, setAsked] = useState<Asked>();
  const show = (key: ManagementKeyCreated): void => {
    setCreating(false);
    setCreated(key);
  };
  return (
    <>
      <PageHead
        title="Management keys"
        aside={
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            Create a management key
          </button>
        }
      >
        For programs that administer the account, such as Terraform. They run no model.
      </PageHead>
      <Paged
        name={LIST}
        label="Management keys, the newest first"
        columns={columnsOf(setAsked)}
        idOf={({ management_key_id: id }) => id}
        read={async (cursor) => tallygate.managementKeys.list(from(cursor))}
        empty={<Empty title="No management keys">Create one for a program that makes keys, projects, members or limits.</Empty>}
      />
      {isCreating && <NewKey onCreated={show} onClose={() => setCreating(false)} />}
      {asked && <AskFirst asked={asked} onCreated={setCreated} onClose={() => setAsked(undefined)} />}
      {created && <Secret title={`The management key “${created.name}”`} secret={created.key} onClose={() => setCreated(undefined)} />}
    </>
  );
}
