import { contract } from '@tallygate/contract';
import { afterEach, expect, test } from 'vitest';
import { type WebhookFault, WebhookRefused } from '../../adapters/payment/port.ts';
import { paymentRoutes } from './payment-api.ts';
import { openFrontUnderTest } from './testing/front.ts';

let close = () => {};
afterEach(() => close());

/** What a webhook is answered where taking it ends like this. */
async function answerTo(receive: () => Promise<void>, hasWebhookSecret = true): Promise<{ status: number; text: string }> {
  const front = await openFrontUnderTest(() => paymentRoutes({ receive, hasWebhookSecret, pages: undefined }));
  close = () => front.close();
  const answer = await fetch(`${front.url}${contract.paymentWebhooks.stripe.path}`, { method: 'POST', body: '{}' });
  return { status: answer.status, text: await answer.text() };
}

test.each<[WebhookFault, RegExp]>([
  ['unsigned', /not signed with the webhook secret/],
  ['stale', /more than five minutes/],
  ['other_mode', /other mode of Stripe/],
  ['malformed', /is signed .* but does not have the form/],
])('a webhook that is %s is a 400 that says so', async (fault, said) => {
  const { status, text } = await answerTo(() => Promise.reject(new WebhookRefused(fault, 'no')));
  expect([status, text]).toEqual([400, expect.stringMatching(said)]);
});

test('a webhook to a server without a webhook secret gets that error, not "unsigned"', async () => {
  const { status, text } = await answerTo(async () => {}, false);
  expect([status, text]).toEqual([503, expect.stringMatching(/has no webhook secret/)]);
});

test('a webhook that is taken is a 200, and one that could not be is a 500, so that it is sent again', async () => {
  expect((await answerTo(async () => {})).status).toBe(200);
  close();
  expect((await answerTo(() => Promise.reject(new Error('the database is down')))).status).toBe(500);
});
