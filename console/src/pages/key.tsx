import type { KeyCreatedResponse, KeyResponse } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, moment, monthStart, usd } from '../format.ts';
import { EditKey } from '../keys/edit-key.tsx';
import { AlertsField, alertsIn } from '../limits/alerts.tsx';
import { WhatIf } from '../limits/what-if-hint.tsx';
import { useMay } from '../session.ts';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { Badge, CapBar, Facts, Figure, Figures, Mono, PageHead, PagePending, Panel, Pending } from '../ui/parts.tsx';
import { KeySecret } from './keys.tsx';

const GRACE_SECONDS = 3_600;

function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    for (const name of ['key', 'keys', 'budget', 'budgets', 'usage']) await client.invalidateQueries({ queryKey: [name] });
  };
}

/** What a cap would mean for this month so far. */
function forThisMonth(cap: string, spent: string): string {
  if (cap === '' || Number.isNaN(Number(cap))) return '';
  return Number(cap) < Number(spent)
    ? `This month ${usd(spent)} is spent: the key is stopped at once.`
    : `This month ${usd(spent)} is spent: ${usd((Number(cap) - Number(spent)).toFixed(2))} is left.`;
}

interface EditCapProps {
  readonly apiKey: KeyResponse;
  readonly spent: string;
  /** Percent of the cap at which somebody is told. */
  readonly alerts: readonly number[];
  readonly onClose: () => void;
}

function EditCap({ apiKey, spent, alerts, onClose }: EditCapProps) {
  const refresh = useRefresh();
  const [cap, setCap] = useState(apiKey.monthly_cap_usd ?? '');
  const save = async (fields: FormData): Promise<void> => {
    await tallygate.budgets.set(apiKey.key_id, {
      monthly_cap_usd: given(fields, 'cap') ?? null,
      alert_thresholds: alertsIn(fields),
    });
    await refresh();
    onClose();
  };
  return (
    <Dialog title={`The monthly cap of ${apiKey.name}`} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <div onChange={(event) => event.target instanceof HTMLInputElement && setCap(event.target.value)}>
          <Field
            name="cap"
            label="Cap, USD"
            inputMode="decimal"
            defaultValue={cap}
            hint="It binds from the next request on. Empty: no cap."
          />
        </div>
        <p className="hint" role="status">
          {forThisMonth(cap, spent)}
        </p>
        <AlertsField percents={alerts} hint="A mail and a webhook when so much of the cap is spent." />
        <WhatIf kind="key" subject={apiKey.key_id} cap={cap} period="month" />
      </Form>
    </Dialog>
  );
}

function Spending({ apiKey }: { apiKey: KeyResponse }) {
  const { key_id: keyId, livemode } = apiKey;
  const mayManage = useMay('manage keys');
  const [isEditing, setEditing] = useState(false);
  const { data, error } = useQuery({
    queryKey: ['budget', keyId],
    queryFn: () => tallygate.budgets.get(keyId),
  });
  const query = { from: monthStart(), key_id: keyId, livemode } as const;
  const usage = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  if (!data) return <Pending error={error} />;
  const { spent_usd: spent, held_usd: held, monthly_cap_usd: cap } = data;
  return (
    <>
      <Figures>
        <Figure label="Spent this month" value={usd(spent)} note={<CapBar {...{ spent, held, cap }} />} />
        <Figure label="Held now" value={usd(held)} />
        <Figure label="Monthly cap" value={cap === null ? 'none' : usd(cap)} note={`starts anew ${moment(data.resets_at)}`} />
        <Figure label="Requests this month" value={usage.data ? count(usage.data.total.requests) : '…'} />
      </Figures>
      {mayManage && apiKey.status === 'active' && (
        <div className="form-actions">
          <button type="button" onClick={() => setEditing(true)}>
            Change the cap
          </button>
        </div>
      )}
      {isEditing && <EditCap apiKey={apiKey} spent={spent} alerts={data.alert_thresholds} onClose={() => setEditing(false)} />}
    </>
  );
}

function Actions({ apiKey }: { apiKey: KeyResponse }) {
  const refresh = useRefresh();
  const [open, setOpen] = useState<'change' | 'rotate' | 'revoke'>();
  const [rotated, setRotated] = useState<KeyCreatedResponse>();
  const rotate = async (): Promise<void> => {
    setRotated(await tallygate.keys.rotate(apiKey.key_id, { grace_seconds: GRACE_SECONDS }));
    await refresh();
  };
  const revoke = async (): Promise<void> => {
    await tallygate.keys.revoke(apiKey.key_id);
    await refresh();
  };
  const close = (): void => setOpen(undefined);
  return (
    <>
      <button type="button" onClick={() => setOpen('change')}>
        Change
      </button>
      <button type="button" onClick={() => setOpen('rotate')}>
        Rotate
      </button>
      <button type="button" className="danger" onClick={() => setOpen('revoke')}>
        Revoke
      </button>
      {open === 'change' && <EditKey apiKey={apiKey} onClose={close} />}
      {open === 'rotate' && (
        <Confirm title={`Rotate ${apiKey.name}?`} action="Rotate" onConfirm={rotate} onClose={close}>
          It gets a new secret, which is shown once. The old one works for another hour.
        </Confirm>
      )}
      {open === 'revoke' && (
        <Confirm title={`Revoke ${apiKey.name}?`} action="Revoke the key" onConfirm={revoke} onClose={close}>
          Whatever uses {apiKey.prefix}… is refused within a second. This cannot be undone.
        </Confirm>
      )}
      {rotated && <KeySecret created={rotated} onClose={() => setRotated(undefined)} />}
    </>
  );
}

function Detail({ apiKey }: { apiKey: KeyResponse }) {
  const mayManage = useMay('manage keys');
  const facts: readonly (readonly [string, string])[] = [
    ['May', apiKey.scopes.join(', ')],
    ['Models', apiKey.allowed_models?.join(', ') ?? 'all'],
    ['Endpoints', apiKey.allowed_endpoints?.join(', ') ?? 'all'],
    ['Requests a minute', apiKey.rate_limits.requests_per_minute?.toString() ?? 'the plan’s'],
    ['Tokens a minute', apiKey.rate_limits.tokens_per_minute?.toString() ?? 'the plan’s'],
    ['At the same time', apiKey.rate_limits.concurrency?.toString() ?? 'the plan’s'],
    ['Signed requests', apiKey.require_signature ? 'required' : 'not required'],
    ['Created', moment(apiKey.created_at)],
    ['Expires', moment(apiKey.expires_at)],
    ['Last used', moment(apiKey.last_used_at)],
  ];
  return (
    <>
      <PageHead title={apiKey.name} aside={mayManage && apiKey.status === 'active' && <Actions apiKey={apiKey} />}>
        <Mono>{apiKey.prefix}…</Mono> <Badge state={apiKey.status} />
      </PageHead>
      <Spending apiKey={apiKey} />
      <Panel title="About it">
        <Facts facts={facts} />
      </Panel>
    </>
  );
}

export function KeyPage() {
  const { keyId } = useParams({ from: '/frame/keys/$keyId' });
  const { data, error } = useQuery({ queryKey: ['key', keyId], queryFn: () => tallygate.keys.get(keyId) });
  return data ? <Detail apiKey={data} /> : <PagePending error={error} />;
}
