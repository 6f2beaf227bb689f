import type { WebhookEndpoint, WebhookEndpointWithSecret } from '@tallygate/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { Secret } from '../ui/secret.tsx';
import { EndpointFields, endpointOf } from './webhook-form.tsx';

interface ActionProps {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
}

export function useEndpointReload(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    for (const name of ['webhook', 'webhooks', 'deliveries']) await client.invalidateQueries({ queryKey: [name] });
  };
}

function Edit({ endpoint, onClose }: ActionProps) {
  const reload = useEndpointReload();
  const save = async (fields: FormData): Promise<void> => {
    const url = given(fields, 'url');
    await tallygate.webhooks.update(endpoint.webhook_id, { ...endpointOf(fields), ...(url !== undefined && { url }) });
    await reload();
    onClose();
  };
  return (
    <Dialog title="Edit the webhook" onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <EndpointFields endpoint={endpoint} />
      </Form>
    </Dialog>
  );
}

/** A day back, as `datetime-local` takes it, UTC. */
const yesterday = (): string => new Date(Date.now() - 86_400_000).toISOString().slice(0, 16);

function Replay({ endpoint, onClose }: ActionProps) {
  const reload = useEndpointReload();
  const [replayed, setReplayed] = useState<number>();
  const replay = async (fields: FormData): Promise<void> => {
    const since = new Date(`${given(fields, 'since') ?? yesterday()}Z`).toISOString();
    setReplayed((await tallygate.webhooks.replay(endpoint.webhook_id, { since })).replayed);
    await reload();
  };
  return (
    <Dialog title="Send again what was not delivered" onClose={onClose}>
      <Form action="Send again" onSubmit={replay} onCancel={onClose}>
        <Field name="since" label="Since, UTC" type="datetime-local" defaultValue={yesterday()} isRequired />
        <p>Events that failed since then, and those that happened while the webhook was disabled, go to {endpoint.url}.</p>
        <p role="status">{replayed !== undefined && `${replayed} events are sent again.`}</p>
      </Form>
    </Dialog>
  );
}

function Delete({ endpoint, onClose }: ActionProps) {
  const navigate = useNavigate();
  const reload = useEndpointReload();
  const remove = async (): Promise<void> => {
    await tallygate.webhooks.delete(endpoint.webhook_id);
    await navigate({ to: '/webhooks' });
    await reload();
  };
  return (
    <Confirm title="Delete the webhook?" action="Delete the webhook" onConfirm={remove} onClose={onClose}>
      Nothing is sent to {endpoint.url} any more, and its list of deliveries is gone. This cannot be undone.
    </Confirm>
  );
}

function Disable({ endpoint, onClose }: ActionProps) {
  const reload = useEndpointReload();
  const disable = async (): Promise<void> => {
    await tallygate.webhooks.update(endpoint.webhook_id, { enabled: false });
    await reload();
  };
  return (
    <Confirm title="Disable the webhook?" action="Disable" onConfirm={disable} onClose={onClose}>
      All deliveries to {endpoint.url} end. What happens meanwhile can be sent later.
    </Confirm>
  );
}

const DIALOGS = { Edit, Replay, Disable, Delete } as const;
type DialogName = keyof typeof DIALOGS;

function Rotate({ endpoint, onClose }: ActionProps) {
  const reload = useEndpointReload();
  const [rotated, setRotated] = useState<WebhookEndpointWithSecret>();
  const rotate = async (): Promise<void> => {
    setRotated(await tallygate.webhooks.rotateSecret(endpoint.webhook_id));
    await reload();
  };
  if (rotated) return <Secret title="The new secret" secret={rotated.secret} onClose={onClose} />;
  return (
    <Dialog title="Rotate the secret?" onClose={onClose}>
      <Form action="Rotate the secret" isDangerous onSubmit={rotate} onCancel={onClose}>
        <p>Deliveries to {endpoint.url} carry signatures of both secrets for a day; then only the new one verifies them.</p>
      </Form>
    </Dialog>
  );
}

export function EndpointActions({ endpoint }: { endpoint: WebhookEndpoint }) {
  const reload = useEndpointReload();
  const [open, setOpen] = useState<DialogName | 'Rotate'>();
  const close = (): void => setOpen(undefined);
  const enable = async (): Promise<void> => {
    await tallygate.webhooks.update(endpoint.webhook_id, { enabled: true });
    await reload();
  };
  const isDisabled = endpoint.status === 'disabled';
  const Shown = open && open !== 'Rotate' ? DIALOGS[open] : undefined;
  return (
    <>
      {isDisabled && (
        <button type="button" onClick={() => void enable()}>
          Enable
        </button>
      )}
      <button type="button" onClick={() => setOpen('Rotate')}>
        Rotate the secret
      </button>
      {(Object.keys(DIALOGS) as DialogName[])
        .filter((name) => name !== 'Disable' || !isDisabled)
        .map((name) => (
          <button key={name} type="button" className={name === 'Delete' ? 'danger' : undefined} onClick={() => setOpen(name)}>
            {name}
          </button>
        ))}
      {Shown && <Shown endpoint={endpoint} onClose={close} />}
      {open === 'Rotate' && <Rotate endpoint={endpoint} onClose={close} />}
    </>
  );
}
