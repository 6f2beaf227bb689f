import type { CreateWebhookRequest, WebhookEndpoint, WebhookEndpointWithSecret } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { moment } from '../format.ts';
import { useMay } from '../session.ts';
import { Dialog, Form, given } from '../ui/dialog.tsx';
import { Badge, Empty, PageHead, Pending } from '../ui/parts.tsx';
import { Secret } from '../ui/secret.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { EndpointFields, endpointOf } from './webhook-form.tsx';

type Owner = NonNullable<CreateWebhookRequest['owner']>;
const MOST = 200;

export const endpointTone = (status: WebhookEndpoint['status']) =>
  (({ enabled: 'good', failing: 'bad', disabled: 'quiet' }) as const)[status];

const COLUMNS: readonly Column<WebhookEndpoint>[] = [
  {
    name: 'Address',
    cell: ({ webhook_id: webhookId, url }) => (
      <Link to="/webhooks/$webhookId" params={{ webhookId }} className="mono">
        {url}
      </Link>
    ),
  },
  { name: 'For', cell: ({ description }) => description || '–', isSecondary: true },
  { name: 'State', cell: ({ status }) => <Badge state={status} tone={endpointTone(status)} /> },
  { name: 'Sent as', cell: ({ format }) => format, isSecondary: true },
  { name: 'Events', cell: ({ event_types: types }) => types?.join(', ') ?? 'all', isSecondary: true },
  { name: 'Since', cell: ({ created_at: at }) => moment(at), isSecondary: true },
];

interface NewEndpointProps {
  readonly owner: Owner;
  readonly onCreated: (endpoint: WebhookEndpointWithSecret) => void;
  readonly onClose: () => void;
}

function NewEndpoint({ owner, onCreated, onClose }: NewEndpointProps) {
  const client = useQueryClient();
  const create = async (fields: FormData): Promise<void> => {
    const created = await tallygate.webhooks.create({ owner, url: given(fields, 'url') ?? '', ...endpointOf(fields) });
    await client.invalidateQueries({ queryKey: ['webhooks'] });
    onCreated(created);
  };
  return (
    <Dialog title={owner === 'gateway' ? 'Add a webhook of the gateway' : 'Add a webhook'} onClose={onClose}>
      <Form action="Add" onSubmit={create} onCancel={onClose}>
        <EndpointFields />
      </Form>
    </Dialog>
  );
}

const OWNERS = [
  ['account', 'Of the account'],
  ['gateway', 'Of the gateway'],
] as const;

export function Webhooks() {
  const { kind } = useSearch({ from: '/frame/webhooks' });
  const owner: Owner = kind === 'gateway' ? 'gateway' : 'account';
  const navigate = useNavigate({ from: '/webhooks' });
  const [isAdding, setAdding] = useState(false);
  const [created, setCreated] = useState<WebhookEndpointWithSecret>();
  const mayManage = useMay('manage account');
  const isOperator = useMay('run the gateway');
  const { data, error } = useQuery({
    queryKey: ['webhooks', owner],
    queryFn: async () => tallygate.webhooks.list({ owner, limit: MOST }),
  });
  const added = (endpoint: WebhookEndpointWithSecret): void => {
    setAdding(false);
    setCreated(endpoint);
  };
  const add = mayManage && (
    <button type="button" className="primary" onClick={() => setAdding(true)}>
      Add a webhook
    </button>
  );
  return (
    <>
      <PageHead title="Webhooks" aside={add}>
        Where events are sent: a cap that was hit, a key that was revoked, an invoice. What fails is tried for three days.
      </PageHead>
      {isOperator && (
        <Tabs
          label="Webhooks"
          tabs={OWNERS}
          shown={owner}
          onShow={(tab) => void navigate({ search: tab === 'gateway' ? { kind: tab } : {} })}
        />
      )}
      {!data && <Pending error={error} />}
      {data && data.data.length > 0 && <Table label="Webhooks" rows={data.data} columns={COLUMNS} idOf={({ webhook_id: id }) => id} />}
      {data?.data.length === 0 && (
        <Empty title="No webhooks yet">
          {mayManage ? 'Add an address of yours, or an incoming webhook of Slack or Teams.' : 'An admin of the account adds them.'} Each
          delivery is listed with what came back, and can be sent again.
        </Empty>
      )}
      {isAdding && <NewEndpoint owner={owner} onCreated={added} onClose={() => setAdding(false)} />}
      {created && <Secret title="The secret that verifies deliveries" secret={created.secret} onClose={() => setCreated(undefined)} />}
    </>
  );
}
