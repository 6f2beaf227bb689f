import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmails, createUnsubscribing, emailRoutes } from '../../emails/index.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { sightPerson } from '../../people/index.ts';
import { type Instance, openTestDatabase, send, signUp, startInstance } from './account-api-under-test.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { createUnsubscribePages } from './unsubscribe-pages.ts';

const SEND = '/v1/marketing/emails/send';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let staff: Awaited<ReturnType<typeof signUp>>;
let unsubscribing: ReturnType<typeof createUnsubscribing>;
let pageUrl: string;
let stopPages: () => void;
beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  const clock = { now: Date.now };
  const emails = createEmails({ pool, clock, publicUrl: () => 'https://tallygate.test', addressOf: async () => 'staff@example.com' });
  api = await startInstance(db.database, db.url, { endpoints: endpointsOf(contract.emails, emailRoutes(emails)) });
  staff = await signUp(api, 'admin');
  unsubscribing = createUnsubscribing({ pool, clock });
  const pages = createUnsubscribePages({ unsubscribing, log: silentLog() });
  const server = createServer((req, res) => void pages.serve(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  pageUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/unsubscribe`;
  stopPages = () => server.close();
});
afterAll(async () => {
  stopPages?.();
  await api?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.emails);

let serial = 0;
async function personId(): Promise<string> {
  const email = `reader-${++serial}@example.com`;
  const { pool } = db.database;
  await sightPerson((sql, values) => pool.query(sql, values), { email, source: 'registration', at: new Date() });
  return (await pool.query('select person_id from people where email = $1', [email])).rows[0].person_id;
}
const write = async (json: object) => send(api, SEND, { headers: staff.auth, json: { subject: 'Hello', text: 'Hi.', ...json } });

describe('a mail to people', () => {
  test('waits until it is due, says how far it is, and can be stopped', async () => {
    const sent = await write({ to: { person_ids: [await personId()] }, scheduled_at: new Date(Date.now() + 3_600_000).toISOString() });
    expect(sent.status).toBe(200);
    const path = `/v1/marketing/emails/${sent.body.email.email_id}`;
    expect((await send(api, path, { headers: staff.auth })).body).toMatchObject({ state: 'scheduled', subject: 'Hello' });
    expect((await send(api, `${path}/cancel`, { method: 'POST', headers: staff.auth })).body).toMatchObject({ state: 'canceled' });
  });

  test('has to say to whom it is and what it says', async () => {
    expect((await write({})).status).toBe(422);
    for (const q of ['', ' ', '#', '-', '😀'])
      expect((await write({ to: { filter: { q } }, mode: 'preview' })).body.errors).toMatchObject([{ loc: ['body', 'to', 'filter', 'q'] }]);
    expect((await write({ to: { person_ids: [await personId()] }, subject: '' })).status).toBe(422);
    expect((await write({ to: { person_ids: [await personId()] }, subject: 'Hi\r\nBcc: everybody@example.com' })).status).toBe(422);
  });

  test('that does not exist is 404', async () => {
    expect((await send(api, `/v1/marketing/emails/${newId()}`, { headers: staff.auth })).status).toBe(404);
  });
});

describe('the unsubscribe page', () => {
  test('asks before it does anything, since mail scanners follow links', async () => {
    const token = await unsubscribing.tokenOf(newId());
    const page = await fetch(`${pageUrl}?token=${token}`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<form method="post">')]);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('unsubscribes with one click of the mail program (RFC 8058)', async () => {
    const token = await unsubscribing.tokenOf(newId());
    const done = await fetch(`${pageUrl}?token=${token}`, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    });
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('You are unsubscribed')]);
  });

  test('knows no token that was not made here', async () => {
    const token = await unsubscribing.tokenOf(newId());
    for (const forged of [`${token.slice(0, -2)}AA`, '', 'x', `${token}A`])
      expect((await fetch(`${pageUrl}?token=${forged}`, { method: 'POST' })).status).toBe(404);
  });
});
