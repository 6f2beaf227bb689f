import type { MarketingInviteBatchRequest, MarketingInviteBatchResponse, MarketingInviteRecord } from '@tallygate/sdk';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, day, usd } from '../format.ts';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { from, Paged, useReload } from '../ui/paged.tsx';
import { Badge, Empty, PageHead } from '../ui/parts.tsx';
import { Secret } from '../ui/secret.tsx';
import type { Column } from '../ui/table.tsx';
import { TextArea } from '../ui/text-area.tsx';

const DAYS = 30;
const DAY_MS = 86_400_000;

const addressesOf = (text: string | undefined): { email: string }[] =>
  (text ?? '')
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((email) => ({ email }));

/** To addresses by mail, or one code that many can use. */
function requestOf(fields: FormData): MarketingInviteBatchRequest {
  const recipients = addressesOf(given(fields, 'recipients'));
  const [plan, credit, message] = [given(fields, 'plan'), given(fields, 'credit'), given(fields, 'message')];
  return {
    name: given(fields, 'name') ?? '',
    expires_at: new Date(`${given(fields, 'until') ?? ''}T00:00:00Z`).toISOString(),
    ...(recipients.length > 0 ? { recipients } : { shared_uses: Number(given(fields, 'uses') ?? 1) }),
    ...(plan !== undefined && { plan_id: plan, trial_days: Number(given(fields, 'days') ?? DAYS) }),
    ...(credit !== undefined && { credit_usd: credit }),
    ...(message !== undefined && { message }),
  };
}

function Invite({ onCreated, onClose }: { onCreated: (batch: MarketingInviteBatchResponse) => void; onClose: () => void }) {
  const reload = useReload('invite-batches');
  const create = async (fields: FormData): Promise<void> => {
    const created = await tallygate.invites.createBatch(requestOf(fields));
    await reload();
    onCreated(created);
  };
  const until = new Date(Date.now() + DAYS * DAY_MS).toISOString().slice(0, 10);
  return (
    <Dialog title="Invite to the beta" onClose={onClose}>
      <Form action="Invite" onSubmit={create} onCancel={onClose}>
        <Field name="name" label="Name, for the team" placeholder="Spring beta" isRequired autoComplete="off" />
        <TextArea
          name="recipients"
          label="E-mail addresses"
          rows={3}
          hint="Each gets a code of its own by mail. Empty: one code for many."
        />
        <Field name="uses" label="Without addresses: how many may use the code" inputMode="numeric" defaultValue="100" />
        <Field name="plan" label="Plan of the trial" placeholder="pro" hint="Empty: no trial." />
        <Field name="days" label="Days of the trial" inputMode="numeric" defaultValue={String(DAYS)} />
        <Field name="credit" label="Credit, USD" inputMode="decimal" />
        <Field name="until" label="Codes are valid until" type="date" defaultValue={until} isRequired />
        <TextArea name="message" label="Message of the mail" rows={4} hint="{{name}} is the recipient’s name. Empty: the usual one." />
      </Form>
    </Dialog>
  );
}

const grantsOf = ({ grants }: MarketingInviteBatchResponse): string =>
  [grants.plan_id && `${grants.plan_id} for ${grants.trial_days} days`, grants.credit_usd !== '0' && `${usd(grants.credit_usd)} credit`]
    .filter(Boolean)
    .join(', ') || '–';

const invitesOf = (onRevoke: (invite: MarketingInviteRecord) => void): readonly Column<MarketingInviteRecord>[] => [
  { name: 'To', cell: ({ email }) => email ?? 'a shared code' },
  { name: 'State', cell: ({ status }) => <Badge state={status} /> },
  { name: 'Used', cell: ({ uses, max_uses: most }) => `${count(uses)} of ${count(most)}`, isFigure: true },
  {
    name: 'Revoke',
    isAction: true,
    cell: (invite) =>
      invite.status !== 'revoked' && (
        <button type="button" onClick={() => onRevoke(invite)}>
          Revoke
        </button>
      ),
  },
];

function Invites({ batch, onClose }: { batch: MarketingInviteBatchResponse; onClose: () => void }) {
  const reload = useReload('invites', 'invite-batches');
  const [revoked, setRevoked] = useState<MarketingInviteRecord>();
  const revoke = async (): Promise<void> => {
    if (revoked) await tallygate.invites.revoke(batch.batch_id, revoked.invite_id);
    await reload();
  };
  if (revoked)
    return (
      <Confirm
        title={`Revoke the invitation of ${revoked.email ?? 'many'}?`}
        action="Revoke the invitation"
        onConfirm={revoke}
        onClose={() => setRevoked(undefined)}
      >
        Its code opens nothing any more; {count(revoked.uses)} who have used it keep what they got.
      </Confirm>
    );
  return (
    <Dialog title={batch.name} onClose={onClose}>
      <Paged
        name="invites"
        by={batch.batch_id}
        label="Invitations"
        columns={invitesOf(setRevoked)}
        idOf={({ invite_id: id }) => id}
        read={async (cursor) => tallygate.invites.list(batch.batch_id, from(cursor))}
        empty={<Empty title="No invitations yet">They are made a moment after the batch.</Empty>}
        isMoving={(invites) => invites.length === 0 || invites.some(({ status }) => status === 'pending' || status === 'queued')}
      />
      <button type="button" onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}

const columnsOf = (
  onOpen: (batch: MarketingInviteBatchResponse) => void,
  onRevoke: (batch: MarketingInviteBatchResponse) => void,
): readonly Column<MarketingInviteBatchResponse>[] => [
  {
    name: 'Name',
    cell: ({ name }) => (
      <span className="cut" title={name}>
        {name}
      </span>
    ),
  },
  { name: 'State', cell: ({ status }) => <Badge state={status} tone={status === 'revoked' ? 'bad' : 'good'} /> },
  { name: 'Gives', cell: grantsOf, isSecondary: true },
  { name: 'Invited', cell: ({ counts, shared_uses: uses }) => count(uses ?? counts.total), isFigure: true },
  { name: 'Activated', cell: ({ counts }) => count(counts.activations), isFigure: true },
  { name: 'Until', cell: ({ expires_at: at }) => day(at), isSecondary: true },
  {
    name: 'Change',
    isAction: true,
    cell: (batch) => (
      <span className="row-actions">
        <button type="button" onClick={() => onOpen(batch)}>
          Open
        </button>
        {batch.status !== 'revoked' && (
          <button type="button" onClick={() => onRevoke(batch)}>
            Revoke
          </button>
        )}
      </span>
    ),
  },
];

export function InvitesPage() {
  const reload = useReload('invite-batches', 'invites');
  const [isInviting, setInviting] = useState(false);
  const [created, setCreated] = useState<MarketingInviteBatchResponse>();
  const [opened, setOpened] = useState<MarketingInviteBatchResponse>();
  const [revoked, setRevoked] = useState<MarketingInviteBatchResponse>();
  const revoke = async (): Promise<void> => {
    if (revoked) await tallygate.invites.revokeBatch(revoked.batch_id);
    await reload();
  };
  const made = (batch: MarketingInviteBatchResponse): void => {
    setInviting(false);
    setCreated(batch);
  };
  const invite = (
    <button type="button" className="primary" onClick={() => setInviting(true)}>
      Invite
    </button>
  );
  return (
    <>
      <PageHead title="Invitations" aside={invite}>
        Codes that open the beta, with a trial or a credit.
      </PageHead>
      <Paged
        name="invite-batches"
        label="Batches of invitations"
        columns={columnsOf(setOpened, setRevoked)}
        idOf={({ batch_id: id }) => id}
        read={async (cursor) => tallygate.invites.listBatches(from(cursor))}
        empty={<Empty title="Nobody is invited yet">Invite addresses by mail, or make one code that many can use.</Empty>}
        isMoving={(batches) => batches.some(({ status }) => status === 'sending')}
      />
      {isInviting && <Invite onCreated={made} onClose={() => setInviting(false)} />}
      {created?.code !== undefined && (
        <Secret title={`The code of ${created.name}`} secret={created.code} onClose={() => setCreated(undefined)} />
      )}
      {opened && <Invites batch={opened} onClose={() => setOpened(undefined)} />}
      {revoked && (
        <Confirm title={`Revoke ${revoked.name}?`} action="Revoke the invitations" onConfirm={revoke} onClose={() => setRevoked(undefined)}>
          Its codes open nothing any more; {count(revoked.counts.activations)} people who have used one keep what they got.
        </Confirm>
      )}
    </>
  );
}
