import { type Passkey, TallygateError } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { stranger, tallygate } from '../client.ts';
import { moment } from '../format.ts';
import { addPasskey, hasPasskeys, isAtDomain } from '../passkeys.ts';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const LIST = ['passkeys'] as const;

type Opened = { readonly is: 'adding' } | { readonly is: 'renaming' | 'removing'; readonly passkey: Passkey };

const columnsOf = (open: (opened: Opened) => void): readonly Column<Passkey>[] => [
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Kept', cell: ({ synced }) => (synced ? 'in your password manager' : 'on one device'), isSecondary: true },
  { name: 'Added', cell: ({ created_at: at }) => moment(at), isSecondary: true },
  { name: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : moment(at)) },
  {
    name: 'Change',
    isAction: true,
    cell: (passkey) => (
      <span className="form-actions">
        <button type="button" onClick={() => open({ is: 'renaming', passkey })} aria-label={`Rename ${passkey.name}`}>
          Rename
        </button>
        <button type="button" onClick={() => open({ is: 'removing', passkey })} aria-label={`Remove ${passkey.name}`}>
          Remove
        </button>
      </span>
    ),
  },
];

/** What takes a fresh session leads to the sign-in where this one is not. */
function FreshForm({ action, onSubmit, onClose, defaultName }: FreshFormProps) {
  const [isStale, setStale] = useState(false);
  const submit = async (fields: FormData): Promise<void> => {
    try {
      await onSubmit(given(fields, 'name') ?? '');
      onClose();
    } catch (error) {
      setStale(error instanceof TallygateError && error.code === 'recent_login_required');
      throw error;
    }
  };
  return (
    <Form action={action} onCancel={onClose} onSubmit={submit}>
      <Field name="name" label="Name" hint="Only you see it." defaultValue={defaultName} placeholder="Laptop" isRequired />
      {isStale && <SignInAgain />}
    </Form>
  );
}

interface FreshFormProps {
  readonly action: string;
  readonly onSubmit: (name: string) => Promise<unknown>;
  readonly onClose: () => void;
  readonly defaultName: string;
}

const SignInAgain = () => (
  <p>
    <Link to="/sign-in" search={{ to: '/settings' }}>
      Sign in again
    </Link>
  </p>
);

function Change({ opened, onClose }: { opened: Opened; onClose: () => void }) {
  const client = useQueryClient();
  const changing = async (change: Promise<unknown>): Promise<void> => {
    await change;
    await client.invalidateQueries({ queryKey: LIST });
  };
  if (opened.is === 'adding')
    return (
      <Dialog title="Add a passkey" onClose={onClose}>
        <p>Your browser asks next: for a fingerprint, a face, a PIN, or a security key.</p>
        <FreshForm action="Add" defaultName="" onSubmit={(name) => changing(addPasskey(name))} onClose={onClose} />
      </Dialog>
    );
  const { passkey_id: id, name: before } = opened.passkey;
  if (opened.is === 'renaming')
    return (
      <Dialog title="Rename the passkey" onClose={onClose}>
        <FreshForm
          action="Rename"
          defaultName={before}
          onSubmit={(name) => changing(tallygate.passkeys.update(id, { name }))}
          onClose={onClose}
        />
      </Dialog>
    );
  return (
    <Confirm title="Remove the passkey?" action="Remove" onConfirm={() => changing(tallygate.passkeys.remove(id))} onClose={onClose}>
      “{before}” does not sign in any more, and other sessions that it has opened end. It takes a sign-in within the last fifteen minutes.
    </Confirm>
  );
}

/** Where passkeys are made: on a page at the domain, in a browser that has them. */
function Adding({ onAdd }: { onAdd: () => void }) {
  const { data } = useQuery({ queryKey: ['login-methods'], queryFn: () => stranger.sso.methods() });
  if (!data) return null;
  if (!data.passkey)
    return <p className="hint">There are none here: the gateway is reached at an IP address, and they are made for names.</p>;
  if (!hasPasskeys()) return <p className="hint">This browser has none.</p>;
  if (isAtDomain(data.passkey.rp_id))
    return (
      <button type="button" className="primary" onClick={onAdd}>
        Add a passkey
      </button>
    );
  const there = new URL(location.href);
  there.hostname = data.passkey.rp_id;
  return (
    <p className="hint">
      They are made for {data.passkey.rp_id}: open <a href={there.href}>{there.host}</a> to add one.
    </p>
  );
}

export function Passkeys() {
  const { data, error } = useQuery({ queryKey: LIST, queryFn: async () => tallygate.passkeys.list() });
  const [opened, setOpened] = useState<Opened>();
  if (!data) return <Pending error={error} />;
  return (
    <>
      <p>A passkey signs you in without a password and a code: with your fingerprint, your face or a PIN.</p>
      {data.data.length > 0 && <Table label="Passkeys" rows={data.data} columns={columnsOf(setOpened)} idOf={({ passkey_id: id }) => id} />}
      <Adding onAdd={() => setOpened({ is: 'adding' })} />
      {opened && <Change opened={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}
