import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { WebhookRefused } from './port.ts';
import { eventOfWebhook } from './stripe-events.ts';

const SECRET = 'whsec_test';
const NOW_MS = Date.UTC(2026, 10, 21);
const EVENT = { id: 'evt_1', type: 'invoice.paid', created: NOW_MS / 1000, livemode: false, data: { object: {} } };

const REFUND = { id: 're_1', payment_intent: 'pi_1', amount: 5, status: 'succeeded', metadata: {}, created: 1 };

/** What becomes of a webhook: its kind, or why it is refused. */
function outcome(body: unknown, { secret = SECRET, sentMs = NOW_MS } = {}): string {
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(sentMs / 1000) });
  try {
    return eventOfWebhook({ rawBody: Buffer.from(payload), signature, secret: SECRET, nowMs: NOW_MS, livemode: false }).kind;
  } catch (error) {
    return error instanceof WebhookRefused ? error.fault : String(error);
  }
}

test('an event of a type that the gateway does not handle is taken, whatever is in it', () => {
  expect(outcome({ ...EVENT, type: 'product.created', data: { object: { anything: true } } })).toBe('other');
});

test('an event of this form, signed four minutes ago or for four minutes from now, is taken', () => {
  const event = { ...EVENT, type: 'refund.updated', data: { object: REFUND } };
  expect([-240_000, 0, 240_000].map((ms) => outcome(event, { sentMs: NOW_MS + ms }))).toEqual(Array(3).fill('refund_changed'));
});

test.each([
  ['with another secret', EVENT, { secret: 'whsec_other' }, 'unsigned'],
  ['six minutes ago', EVENT, { sentMs: NOW_MS - 360_000 }, 'stale'],
  ['six minutes from now', EVENT, { sentMs: NOW_MS + 360_000 }, 'stale'],
  ['in a thousand years', EVENT, { sentMs: NOW_MS + 31_536_000_000_000 }, 'stale'],
  ['in the other mode of Stripe', { ...EVENT, type: 'product.created', livemode: true }, {}, 'other_mode'],
  ['with a null character in its id', { ...EVENT, type: 'product.created', id: 'evt_\0' }, {}, 'malformed'],
  ['with an id of 100,000 characters', { ...EVENT, type: 'product.created', id: 'e'.repeat(100_000) }, {}, 'malformed'],
  [
    'with a null character in its object',
    { ...EVENT, type: 'refund.updated', data: { object: { ...REFUND, payment_intent: 'pi_\0' } } },
    {},
    'malformed',
  ],
  ['with an object of another shape', EVENT, {}, 'malformed'],
  ['without the envelope of an event', { hello: 'world' }, {}, 'malformed'],
  ['with a body that is no JSON', 'no JSON', {}, 'malformed'],
  ['with null for a body', null, {}, 'malformed'],
])('a webhook signed %s is refused for what is wrong with it', (_, body, how, fault) => {
  expect(outcome(body, how)).toBe(fault);
});
