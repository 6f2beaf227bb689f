import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type InvoiceResponse, Tallygate } from '@tallygate/sdk';
import type { Page } from 'playwright-core';
import { expect, vi } from 'vitest';
import type { Gateway } from './gateway.ts';

const ROUTER = join(import.meta.dirname, '../../console/src/router.tsx');
const API_DOCUMENT = join(import.meta.dirname, '../../contract/openapi.json');

/** The pages of the console but the sign-in, as its router has them. */
export const PAGES_OF_ROUTER: readonly string[] = [...readFileSync(ROUTER, 'utf8').matchAll(/\bpath: '(\/[^']*)'/g)]
  .map(([, path = '']) => path)
  .filter((path) => path !== '/sign-in')
  .toSorted();

/** A page of one thing, whose address has a name of it. */
const isOfOne = (path: string): boolean => path.includes('$');

/** Those that are there before there is anything. */
export const PAGES_OF_LISTS = PAGES_OF_ROUTER.filter((path) => !isOfOne(path));
export const PAGES_OF_ONE = PAGES_OF_ROUTER.filter(isOfOne);

/** Everybody; of the account all, or those who use models; those who have the people of the service; its administrators. */
type Readers = 'all' | 'account' | 'users of models' | 'service' | 'operators';

interface Thing {
  readonly address: string;
  /** Of the page, once the thing is there. */
  readonly title: string;
  readonly of: Readers;
}

const MONTH = '2026-10';

/**
 * Makes one of each thing that has a page by itself, in the administrator's account.
 *
 * @returns by the path of the router
 */
export async function oneOfEach(gateway: Gateway): Promise<Readonly<Record<string, Thing>>> {
  const { admin_email: email, admin_password: password, test_api_key: key } = gateway.bootstrap;
  const login = await new Tallygate({ apiKey: null, baseUrl: gateway.url }).identity.login({ email, password });
  if (!('session' in login) || !login.session) throw new Error('The login answer carries no session');
  const admin = new Tallygate({ apiKey: login.session.token, baseUrl: gateway.url });
  const requestId = await settledRequest(gateway, key, admin);
  const [apiKey] = await admin.keys.list();
  const project = await admin.projects.create({ name: 'search' });
  const webhook = await admin.webhooks.create({ url: 'http://127.0.0.1:9/hook' });
  await admin.people.importAll(new Blob(['email,consent\nada@example.com,given']));
  const [person] = (await admin.people.list({ q: 'ada@example.com' })).data;
  const mail = await admin.emails.send({ to: { filter: { q: 'ada' } }, subject: 'News', text: 'Hello' });
  const event = await admin.events.create({
    ...{ slug: 'berlin', title: 'Vibethon in Berlin', summary: 'Two days', starts_at: '2027-01-20T10:00:00.000Z' },
    ...{ ends_at: '2027-01-21T18:00:00.000Z', time_zone: 'Europe/Berlin' },
  });
  const [account] = (await admin.accounts.list({ email })).data;
  const batch = await endedBatch(new Tallygate({ apiKey: key, baseUrl: gateway.url }));
  return {
    '/keys/$keyId': { address: `/keys/${apiKey?.key_id}`, title: apiKey?.name ?? '', of: 'account' },
    '/projects/$projectId': { address: `/projects/${project.project_id}`, title: project.name, of: 'account' },
    '/webhooks/$webhookId': { address: `/webhooks/${webhook.webhook_id}`, title: 'Webhook', of: 'account' },
    '/models/$modelId': { address: '/models/gpt-4o-mini', title: 'gpt-4o-mini', of: 'all' },
    '/runs/$runId': { address: '/runs/nightly', title: 'nightly', of: 'account' },
    '/requests/$requestId': { address: `/requests/${requestId}`, title: 'gpt-4o-mini', of: 'account' },
    '/batches/$batchId': { address: `/batches/${batch}`, title: 'Batch of gpt-4o-mini', of: 'users of models' },
    '/bills/$month': { address: `/bills/${MONTH}`, title: `Bill of ${MONTH}`, of: 'account' },
    '/people/$personId': { address: `/people/${person?.person_id}`, title: 'ada@example.com', of: 'service' },
    '/emails/$emailId': { address: `/emails/${mail.email?.email_id}`, title: 'News', of: 'service' },
    '/events/$slug': { address: `/events/${event.slug}`, title: event.title, of: 'service' },
    '/accounts/$accountId': { address: `/accounts/${account?.account_id}`, title: account?.name ?? '', of: 'operators' },
  };
}

async function settledRequest(gateway: Gateway, key: string, admin: Tallygate): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-agent-run-id': 'nightly' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.text();
  await vi.waitFor(async () => expect((await admin.receipts.list({ livemode: false })).data).toHaveLength(1), { timeout: 60_000 });
  return answer.headers.get('x-request-id') ?? '';
}

async function endedBatch(client: Tallygate): Promise<string> {
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
  const line = JSON.stringify({ custom_id: 'one', method: 'POST', url: '/v1/chat/completions', body });
  const { id } = await client.files.create({ file: new Blob([line]), filename: 'batch.jsonl', purpose: 'batch' });
  const batch = await client.batches.create({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' });
  await client.batches.wait(batch.id, { pollMs: 100 });
  return batch.id;
}

/** What the API document shows as the answer of a GET, for what no test can bring about: a paid place, a month that is over. */
export const exampleOf = (path: string) =>
  JSON.parse(readFileSync(API_DOCUMENT, 'utf8')).paths[path].get.responses['200'].content['application/json'].example;

/** A month is billed when it is over. No signature holds in it. */
export async function showBill(page: Page): Promise<void> {
  const bill: InvoiceResponse = exampleOf('/v1/invoices/{month}');
  await page.route(`**/v1/invoices/${MONTH}*`, (route) => route.fulfill({ json: { ...bill, payload: { ...bill.payload, month: MONTH } } }));
}
