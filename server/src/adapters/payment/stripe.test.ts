import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startFakeStripe } from '@tallygate/fake-stripe';
import { afterEach, expect, test } from 'vitest';
import { describePayments, type PaymentsUnderTest } from './conformance.ts';
import type { PaymentEvent } from './port.ts';
import { createStripePayments } from './stripe.ts';

const SECRET = 'whsec_test';
const CARDS = { good: '4242424242424242', no_funds_later: '4000000000099995', authentication_later: '4000002760003184' };

async function start(): Promise<PaymentsUnderTest> {
  const told: PaymentEvent[] = [];
  let last = { rawBody: Buffer.alloc(0), signature: '' };
  const fake = await startFakeStripe();
  const provider = createStripePayments({ secretKey: 'sk_test_x', webhookSecret: SECRET, apiUrl: fake.url });
  const receiver = createServer(async (request, response) => {
    const signature = String(request.headers['stripe-signature']);
    last = { rawBody: await buffer(request), signature };
    told.push(provider.verifyWebhook(last.rawBody, signature));
    response.end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const address = receiver.address();
  fake.addWebhook({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`, secret: SECRET });
  return {
    provider,
    pay: async ({ id }, card) => void fake.pay(id, CARDS[card]),
    decline: async ({ id }) => void fake.pay(id, '4000000000000002'),
    advanceDays: async (days) => fake.advance({ days }),
    told: async () => {
      await fake.webhooks.settled();
      return told;
    },
    lastWebhook: () => last,
    close: async () => {
      await fake.close();
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}

describePayments('Stripe', start);

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

async function stripeAt(maxRetries: number) {
  const fake = await startFakeStripe();
  endings.push(() => fake.close());
  return { fake, provider: createStripePayments({ secretKey: 'sk_test_x', webhookSecret: SECRET, apiUrl: fake.url, maxRetries }) };
}
const command = { accountId: '0197', email: 'ada@example.com', idempotencyKey: 'k' };

test('trouble on the way is repeated under the same key, so that nothing is made twice', async () => {
  const { fake, provider } = await stripeAt(2);
  fake.failNext({ status: 503 }, 'lost_answer');
  const id = await provider.ensureCustomer({ ...command, customerId: undefined });
  fake.failNext('lost_answer');
  expect(await provider.ensureCustomer(command)).toBe(id);
});

test('trouble that lasts is told as such, and a wrong key as wrong', async () => {
  const { fake, provider } = await stripeAt(0);
  // A connection that is reset is tried once more by the SDK whatever it is told.
  for (const faults of [[{ status: 500 }], [{ status: 429 }], ['reset', 'reset']] as const) {
    fake.failNext(...faults);
    await expect(provider.ensureCustomer(command)).rejects.toMatchObject({ name: 'PaymentFault', kind: 'unavailable' });
  }
  const stranger = createStripePayments({ secretKey: 'sk_live_x', webhookSecret: SECRET, apiUrl: fake.url });
  expect(stranger.livemode).toBe(true);
  await expect(stranger.ensureCustomer(command)).rejects.toMatchObject({
    kind: 'unauthorised',
    providerRequestId: expect.stringMatching(/^req_/),
  });
});

test('a payment that the bank took back is not refunded again, and the dispute is told of', async () => {
  const under = await start();
  endings.push(() => under.close());
  const { provider } = under;
  const customerId = await provider.ensureCustomer(command);
  const order = { customerId, accountId: '0197', reference: 'r', successUrl: 'http://a.example', cancelUrl: 'http://a.example' };
  const session = await provider.createCheckout({
    ...order,
    idempotencyKey: 'c',
    mode: 'payment',
    amount: 5_000_000_000n,
    description: 'x',
    saveCard: false,
  });
  await under.pay(session, 'good');
  const { paymentId = '' } = (await provider.readCheckout(session.id)) ?? {};
  await fetch(new URL('/_control/disputes', session.url), { method: 'POST', body: new URLSearchParams({ payment_intent: paymentId }) });
  expect(await provider.refund({ paymentId, reference: 'r', idempotencyKey: 'r' })).toMatchObject({ refunded: false, reason: 'disputed' });
  expect((await under.told()).find(({ kind }) => kind === 'dispute_changed')).toMatchObject({
    type: 'charge.dispute.created',
    dispute: { paymentId, amount: 5_000_000_000n, status: 'open' },
  });
});
