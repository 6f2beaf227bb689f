import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import { afterEach, expect, test } from 'vitest';
import { type FakeStripe, startFakeStripe } from './index.ts';

const SECRET = 'whsec_test';
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** An endpoint that verifies signatures as the SDK does, and a fake that delivers every event to it. */
async function told(statusOf: (type: string) => number = () => 200) {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    const event = Stripe.webhooks.constructEvent(await text(request), request.headers['stripe-signature'] ?? '', SECRET);
    heard.push(event.id);
    response.writeHead(statusOf(event.type)).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hook`;
  const fake = await startFakeStripe({ webhook: { url, secret: SECRET } });
  endings.push(
    async () => void server.close(),
    () => fake.close(),
  );
  return { fake, heard, stripe: new Stripe('sk_test_fake', fake.sdkOptions) };
}

const eventIds = async (stripe: Stripe): Promise<string[]> => (await stripe.events.list({ limit: 100 })).data.map(({ id }) => id).reverse();

async function threeCustomers(stripe: Stripe): Promise<string[]> {
  for (const name of ['a', 'b', 'c']) await stripe.customers.create({ name });
  return eventIds(stripe);
}

test('events are delivered in order, signed, and equal those of the list', async () => {
  const { fake, heard, stripe } = await told();
  const ids = await threeCustomers(stripe);
  await fake.webhooks.settled();
  expect(heard).toEqual(ids);
});

test('held back events are delivered in the requested order and number, dropped ones never', async () => {
  const { fake, heard, stripe } = await told();
  fake.webhooks.hold();
  const [a = '', b = '', c = ''] = await threeCustomers(stripe);
  expect([heard, fake.webhooks.heldCount]).toEqual([[], 3]);
  await fake.webhooks.release({ order: 'reversed', times: 2, drop: ({ id }) => id === b });
  expect(heard).toEqual([c, a, c, a]);
});

test('a shuffle delivers each as often as requested, and is determined by its seed', async () => {
  const { fake, heard, stripe } = await told();
  const random = () => 0.3;
  fake.webhooks.hold();
  const ids = await threeCustomers(stripe);
  await fake.webhooks.release({ order: 'shuffled', times: 3, random });
  expect(heard.toSorted()).toEqual([...ids, ...ids, ...ids].toSorted());
  expect(heard).not.toEqual([...ids, ...ids, ...ids]);
});

test('an event that an endpoint does not accept is delivered again on demand', async () => {
  let status = 500;
  const { fake, heard, stripe } = await told(() => status);
  await stripe.customers.create();
  await fake.webhooks.settled();
  status = 200;
  await fake.webhooks.redeliver();
  await fake.webhooks.redeliver();
  expect(heard).toHaveLength(2);
  expect(fake.webhooks.deliveries.map((delivery) => delivery.status)).toEqual([500, 200]);
});

test('endpoints created through the API have their own secret and get the selected events', async () => {
  const { stripe } = await told();
  const endpoint = await stripe.webhookEndpoints.create({ url: 'http://127.0.0.1:1/hook', enabled_events: ['invoice.paid'] });
  expect(endpoint.secret).toMatch(/^whsec_/);
  expect((await stripe.webhookEndpoints.del(endpoint.id)).deleted).toBe(true);
});

test('other processes control it over HTTP', async () => {
  const fake: FakeStripe = await startFakeStripe();
  endings.push(() => fake.close());
  const post = async (path: string, body: Record<string, string>): Promise<unknown> =>
    (await fetch(`${fake.url}/_control/${path}`, { method: 'POST', body: new URLSearchParams(body) })).json();
  const before = fake.now();
  await post('clock', { advance_seconds: '3600' });
  expect(fake.now() - before).toBeGreaterThanOrEqual(3_600_000);
  expect(await post('webhooks/hold', {})).toEqual({ held: 0 });
  expect(await post('webhooks/release', { order: 'shuffled', times: '3' })).toEqual({ deliveries: [] });
  expect(await post('nothing', {})).toMatchObject({ error: { code: 'resource_missing' } });
});
