import type { MfaBeginResponse, SessionResponse } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { moment } from '../format.ts';
import { ME, useMe } from '../session.ts';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { Badge, PageHead, Panel, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { MembersLogin } from './members-login.tsx';
import { Passkeys } from './passkeys.tsx';

function Profile() {
  const me = useMe();
  const client = useQueryClient();
  const [isSaved, setSaved] = useState(false);
  const save = async (fields: FormData): Promise<void> => {
    await tallygate.identity.update({ name: given(fields, 'name') ?? null });
    await client.invalidateQueries({ queryKey: ME });
    setSaved(true);
  };
  return (
    <Form action="Save" onSubmit={save}>
      <p>
        {me.email} {!me.email_verified && <Badge state="not confirmed" tone="wait" />}
      </p>
      <Field name="name" label="Name" defaultValue={me.name ?? ''} autoComplete="name" />
      <p role="status">{isSaved ? 'Saved.' : ''}</p>
    </Form>
  );
}

function Password() {
  const [isSaved, setSaved] = useState(false);
  const save = async (fields: FormData): Promise<void> => {
    setSaved(false);
    await tallygate.identity.changePassword({ current_password: String(fields.get('current')), new_password: String(fields.get('new')) });
    setSaved(true);
  };
  return (
    <Form action="Change the password" onSubmit={save}>
      <Field name="current" label="Current password" type="password" autoComplete="current-password" isRequired />
      <Field
        name="new"
        label="New password"
        type="password"
        autoComplete="new-password"
        isRequired
        hint="A sentence that nobody knows is better than a word with signs in it."
      />
      <p role="status">{isSaved ? 'Changed. Your other sessions have ended.' : ''}</p>
    </Form>
  );
}

function Enroll({ begun, onClose }: { begun: MfaBeginResponse; onClose: () => void }) {
  const client = useQueryClient();
  const [codes, setCodes] = useState<readonly string[]>();
  const confirm = async (fields: FormData): Promise<void> => {
    const { recovery_codes: recovery = [] } = await tallygate.mfa.confirm({
      code: given(fields, 'code') ?? '',
      password: String(fields.get('password')),
    });
    setCodes(recovery);
    for (const queryKey of [ME, ['mfa']]) await client.invalidateQueries({ queryKey });
  };
  if (codes)
    return (
      <Dialog title="Recovery codes" onClose={onClose}>
        <p>Each replaces a code from the app, once. Keep them where you find them without your phone: they are not shown again.</p>
        <pre className="note-text">{codes.join('\n')}</pre>
        <button type="button" className="primary" onClick={onClose}>
          I have kept them
        </button>
      </Dialog>
    );
  return (
    <Dialog title="Second factor" onClose={onClose}>
      <p>Scan this with an authenticator app, or type in its secret.</p>
      <img src={begun.qr_code} alt="The secret as a QR code" width="200" height="200" />
      <p className="secret">
        <code className="mono">{begun.secret}</code>
      </p>
      <Form action="Turn it on" onSubmit={confirm} onCancel={onClose}>
        <Field name="code" label="Code from the app" autoComplete="one-time-code" inputMode="numeric" isRequired />
        <Field name="password" label="Your password" type="password" autoComplete="current-password" isRequired />
      </Form>
    </Dialog>
  );
}

function SecondFactor() {
  const { data, error } = useQuery({ queryKey: ['mfa'], queryFn: () => tallygate.mfa.status() });
  const [begun, setBegun] = useState<MfaBeginResponse>();
  if (!data) return <Pending error={error} />;
  const begin = async (): Promise<void> => setBegun(await tallygate.mfa.begin());
  return (
    <>
      <p>
        {data.enabled
          ? `On. ${data.recovery_codes_left} recovery codes are left.`
          : 'Off: your password alone opens the account, or a passkey.'}
      </p>
      {!data.enabled && (
        <button type="button" className="primary" onClick={() => void begin()}>
          Turn it on
        </button>
      )}
      {begun && <Enroll begun={begun} onClose={() => setBegun(undefined)} />}
    </>
  );
}

const sessionsOf = (onEnd: (session: SessionResponse) => void): readonly Column<SessionResponse>[] => [
  { name: 'Last used', cell: ({ last_used_at: at }) => moment(at) },
  { name: 'From', cell: ({ ip_address: ip }) => ip ?? '–' },
  { name: 'By', cell: ({ user_agent: agent }) => agent ?? '–', isSecondary: true },
  {
    name: 'End',
    isAction: true,
    cell: (session) =>
      session.current ? (
        'this one'
      ) : (
        <button type="button" onClick={() => onEnd(session)}>
          End
        </button>
      ),
  },
];

function Sessions() {
  const client = useQueryClient();
  const [ended, setEnded] = useState<SessionResponse>();
  const { data, error } = useQuery({ queryKey: ['sessions'], queryFn: async () => tallygate.sessions.list() });
  if (!data) return <Pending error={error} />;
  const end = async (): Promise<void> => {
    if (ended) await tallygate.sessions.revoke(ended.session_id);
    await client.invalidateQueries({ queryKey: ['sessions'] });
  };
  return (
    <>
      <Table label="Sessions" rows={data.data} columns={sessionsOf(setEnded)} idOf={({ session_id: id }) => id} />
      {ended && (
        <Confirm title="End the session?" action="End it" onConfirm={end} onClose={() => setEnded(undefined)}>
          {ended.user_agent ?? 'What uses it'} at {ended.ip_address ?? 'an unknown address'} is signed out at once.
        </Confirm>
      )}
    </>
  );
}

export function Settings() {
  return (
    <>
      <PageHead title="Settings">Your own profile, and how you sign in.</PageHead>
      <Panel title="Profile">
        <Profile />
      </Panel>
      <Panel title="Passkeys">
        <Passkeys />
      </Panel>
      <Panel title="Second factor">
        <SecondFactor />
      </Panel>
      <Panel title="Password">
        <Password />
      </Panel>
      <MembersLogin />
      <Panel title="Sessions">
        <Sessions />
      </Panel>
    </>
  );
}
