import type { contract } from '@tallygate/contract';
import { originOf } from '../audit/index.ts';
import type { Handlers } from '../http/index.ts';
import type { Deliveries } from './deliveries.ts';
import { listEvents } from './events.ts';
import type { Webhooks } from './webhooks.ts';

interface RoutesDeps {
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly events: Parameters<typeof listEvents>[0];
}

export const webhookRoutes = ({ webhooks, deliveries, events }: RoutesDeps): Handlers<typeof contract.webhooks> => ({
  list: async ({ principal, query }) => ({ status: 200, body: await webhooks.list(principal, query) }),
  create: async ({ principal, body, ...call }) => ({ status: 201, body: await webhooks.create(principal, body, originOf(call)) }),
  get: async ({ principal, params }) => ({ status: 200, body: await webhooks.get(principal, params.webhook_id) }),
  update: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: await webhooks.update(principal, params.webhook_id, body, originOf(call)),
  }),
  delete: async ({ principal, params, ...call }) => {
    await webhooks.delete(principal, params.webhook_id, originOf(call));
    return { status: 204, body: undefined };
  },
  rotateSecret: async ({ principal, params, body: { grace_seconds }, ...call }) => ({
    status: 200,
    body: await webhooks.rotateSecret(principal, params.webhook_id, grace_seconds, originOf(call)),
  }),
  test: async ({ principal, params }) => ({ status: 202, body: { event_id: await webhooks.test(principal, params.webhook_id) } }),
  deliveries: async ({ principal, params, query }) => ({
    status: 200,
    body: await deliveries.list(principal, params.webhook_id, query),
  }),
  replayDelivery: async ({ principal, params, ...call }) => ({
    status: 200,
    body: await deliveries.replayOne(principal, params.webhook_id, params.delivery_id, originOf(call)),
  }),
  replay: async ({ principal, params, body: { since }, ...call }) => ({
    status: 200,
    body: { replayed: await deliveries.replaySince(principal, params.webhook_id, since, originOf(call)) },
  }),
  events: async ({ principal, query }) => ({ status: 200, body: await listEvents(events, principal, query) }),
});
