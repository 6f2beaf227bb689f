import type Stripe from 'stripe';
import { missing } from './fault.ts';
import type { Form } from './form.ts';
import type { FakeWebhookEndpoint } from './records.ts';
import { API_VERSION, type World } from './world.ts';

export function createWebhookEndpoint(world: World, form: Form): FakeWebhookEndpoint {
  const enabled = form.texts('enabled_events');
  if (enabled.length === 0) throw missing('enabled_events');
  return addWebhookEndpoint(world, {
    url: form.required('url'),
    secret: world.id('whsec'),
    enabled,
    description: form.text('description') ?? null,
    metadata: form.metadata(),
    apiVersion: form.text('api_version') ?? API_VERSION,
  });
}

interface Endpoint {
  readonly url: string;
  readonly secret: string;
  readonly enabled?: readonly string[];
  readonly description?: string | null;
  readonly metadata?: Record<string, string>;
  readonly apiVersion?: string;
}

export const addWebhookEndpoint = (
  world: World,
  { url, secret, enabled = ['*'], description = null, metadata = {}, apiVersion = API_VERSION }: Endpoint,
): FakeWebhookEndpoint =>
  world.put('webhook_endpoint', {
    id: world.id('we'),
    object: 'webhook_endpoint',
    api_version: apiVersion,
    application: null,
    created: world.now(),
    description,
    enabled_events: [...enabled],
    livemode: false,
    metadata,
    secret,
    status: 'enabled',
    url,
  });

export function deleteWebhookEndpoint(world: World, id: string): Stripe.DeletedWebhookEndpoint {
  world.find('webhook_endpoint', id);
  world.tables.webhook_endpoint.delete(id);
  return { id, object: 'webhook_endpoint', deleted: true };
}
