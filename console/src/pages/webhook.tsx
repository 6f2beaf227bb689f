import type { WebhookDelivery, WebhookEndpoint } from '@tallygate/sdk';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { duration, moment } from '../format.ts';
import { messageOf } from '../query-client.ts';
import { useMay } from '../session.ts';
import { LongTable } from '../ui/long-table.tsx';
import { At, Badge, Empty, PageHead, PagePending, Panel, Pending } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';
import { EndpointActions, useEndpointReload } from './webhook-actions.tsx';
import { endpointTone } from './webhooks.tsx';

/** While one is under way, its outcome is a moment off; else events come by themselves now and then. */
const PENDING_MS = 1_000;
const REFRESH_MS = 3_000;
const TONES = { pending: 'wait', delivered: 'good', failed: 'bad' } as const;

/** What came back at the last try: "200 in 84 ms", "timed out in 10 s". */
function lastAnswer({ attempts }: WebhookDelivery): string {
  const last = attempts.at(-1);
  if (!last) return 'not tried yet';
  return `${last.status_code ?? (last.error ?? 'no answer').replaceAll('_', ' ')} in ${duration(last.duration_ms)}`;
}

const columnsOf = (onReplay: ((delivery: WebhookDelivery) => void) | undefined): readonly Column<WebhookDelivery>[] => [
  { name: 'At', cell: ({ created_at: at }) => <At at={at} /> },
  {
    name: 'Event',
    cell: ({ event, status }) => (
      <>
        {event.type} <span className="narrow">{status !== 'delivered' && <Badge state={status} tone={TONES[status]} />}</span>
      </>
    ),
  },
  { name: 'State', cell: ({ status }) => <Badge state={status} tone={TONES[status]} />, isSecondary: true },
  { name: 'Tries', cell: ({ attempts }) => attempts.length, isFigure: true, isSecondary: true },
  { name: 'Came back', cell: lastAnswer, isSecondary: true },
  { name: 'Next try', cell: ({ next_attempt_at: at }) => moment(at), isSecondary: true },
  ...(onReplay
    ? [
        {
          name: 'Again',
          isAction: true as const,
          cell: (delivery: WebhookDelivery) => (
            <button type="button" onClick={() => onReplay(delivery)} disabled={delivery.status === 'pending'}>
              Send again
            </button>
          ),
        },
      ]
    : []),
];

function Deliveries({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { webhook_id: webhookId } = endpoint;
  const mayManage = useMay('manage account');
  const reload = useEndpointReload();
  const [failure, setFailure] = useState<string>();
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['deliveries', webhookId],
    queryFn: async ({ pageParam }) => tallygate.webhooks.deliveries(webhookId, pageParam ? { cursor: pageParam } : {}),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.data.some(({ status }) => status === 'pending')) ? PENDING_MS : REFRESH_MS,
  });
  if (!data) return <Pending error={error} />;
  const replay = async ({ delivery_id: deliveryId }: WebhookDelivery): Promise<void> => {
    setFailure(undefined);
    await tallygate.webhooks.replayDelivery(webhookId, deliveryId).catch((thrown: unknown) => setFailure(messageOf(thrown)));
    await reload();
  };
  const rows = data.pages.flatMap((page) => page.data);
  const columns = columnsOf(mayManage ? (delivery) => void replay(delivery) : undefined);
  const more = (): void => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  return (
    <>
      {failure !== undefined && (
        <p className="failure" role="alert">
          {failure}
        </p>
      )}
      {rows.length > 0 ? (
        <LongTable label="Deliveries, the newest first" rows={rows} columns={columns} idOf={({ delivery_id: id }) => id} onEnd={more} />
      ) : (
        <Empty title="Nothing was sent yet">Events that happen from now on are. Send a test event to see one arrive.</Empty>
      )}
    </>
  );
}

function TestEvent({ webhookId }: { webhookId: string }) {
  const reload = useEndpointReload();
  const [said, setSaid] = useState('');
  const send = async (): Promise<void> => {
    setSaid(await tallygate.webhooks.test(webhookId).then(() => 'A test event is on its way.', messageOf));
    await reload();
  };
  return (
    <div className="actions">
      <span role="status">{said}</span>
      <button type="button" onClick={() => void send()}>
        Send a test event
      </button>
    </div>
  );
}

const DISABLED = {
  by_user: 'It was disabled by a person.',
  failed_for_three_days: 'It was disabled because it took nothing for three days.',
  gone: 'It was disabled because it answered 410, Gone.',
} as const;

function Detail({ endpoint }: { endpoint: WebhookEndpoint }) {
  const mayManage = useMay('manage account');
  const { disabled_reason: reason, failing_since: failing, previous_secret_expires_at: previous } = endpoint;
  return (
    <>
      <PageHead title={endpoint.description || 'Webhook'} aside={mayManage && <EndpointActions endpoint={endpoint} />}>
        <code className="mono">{endpoint.url}</code> <Badge state={endpoint.status} tone={endpointTone(endpoint.status)} />
      </PageHead>
      {reason !== null && <p>{DISABLED[reason]}</p>}
      {reason === null && failing !== null && <p>Nothing has arrived there since {moment(failing)}.</p>}
      {previous !== null && <p>Deliveries are signed with the secret before as well until {moment(previous)}.</p>}
      <Panel title="Deliveries" aside={mayManage && <TestEvent webhookId={endpoint.webhook_id} />}>
        <Deliveries endpoint={endpoint} />
      </Panel>
      <Panel title="Events">
        <p>{endpoint.event_types?.join(', ') ?? 'All of them, those of later versions too.'}</p>
      </Panel>
    </>
  );
}

export function WebhookPage() {
  const { webhookId } = useParams({ from: '/frame/webhooks/$webhookId' });
  const { data, error } = useQuery({ queryKey: ['webhook', webhookId], queryFn: () => tallygate.webhooks.get(webhookId) });
  return data ? <Detail endpoint={data} /> : <PagePending error={error} />;
}
