import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmails, createEmailTemplates, createUnsubscribing, emailRoutes, emailTemplateRoutes } from '../../community/emails/index.ts';
import { upsertContact } from '../../community/people/index.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { mistyped } from '../../kernel/testing/mistyped.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { mailAnswerRoutes, unsubscribeAnswer } from './mail-answer-pages.ts';
import { type Instance, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';
import { type FrontUnderTest, openFrontUnderTest } from './testing/front.ts';

const SEND = '/v1/marketing/emails/send';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let staff: Awaited<ReturnType<typeof signUp>>;
let unsubscribing: ReturnType<typeof createUnsubscribing>;
let pageUrl: string;
let front: FrontUnderTest;
beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  const clock = { now: Date.now };
  const emails = createEmails({ pool, clock, publicUrl: () => 'https://tallygate.test', addressOf: async () => 'staff@example.com' });
  api = await startInstance(db.database, db.url, {
    endpoints: [
      ...endpointsOf(contract.emails, emailRoutes(emails)),
      ...endpointsOf(contract.emailTemplates, emailTemplateRoutes(createEmailTemplates({ pool, clock }))),
    ],
  });
  staff = await signUp(api, 'admin');
  unsubscribing = createUnsubscribing({ pool, clock });
  front = await openFrontUnderTest(() => mailAnswerRoutes([unsubscribeAnswer(unsubscribing)], silentLog()));
  pageUrl = `${front.url}/unsubscribe`;
});
afterAll(async () => {
  front?.close();
  await api?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.emails);

let serial = 0;
async function personId(): Promise<string> {
  const email = `reader-${++serial}@example.com`;
  const { pool } = db.database;
  await upsertContact(pool, { email, source: 'registration', at: new Date() });
  return (await pool.query('select person_id from people where email = $1', [email])).rows[0].person_id;
}
const write = async (json: object) => send(api, SEND, { headers: staff.auth, json: { subject: 'Hello', text: 'Hi.', ...json } });

describe('a stored template', () => {
  const TEMPLATES = '/v1/marketing/email-templates';
  const WORDS = { subject: 'Hello {{who}}', text: 'Come in: {{link}}' };
  const store = async (over: object = {}) =>
    (await send(api, TEMPLATES, { headers: staff.auth, json: { name: `template-${++serial}`, ...WORDS, ...over } })).body;
  const change = (id: string, json: object) => send(api, `${TEMPLATES}/${id}`, { method: 'PATCH', headers: staff.auth, json });
  const archive = (id: string) => send(api, `${TEMPLATES}/${id}/archive`, { method: 'POST', headers: staff.auth });
  const mail = async (template_id: string, more: object = {}) =>
    send(api, SEND, { headers: staff.auth, json: { to: { person_ids: [await personId()] }, template_id, mode: 'preview', ...more } });

  test('is sent by its id with its variables, which a mail may say otherwise, and must say where it does not', async () => {
    const { template_id, missing_variables } = await store({ variables: { link: 'https://example.com/a' } });
    expect(missing_variables).toEqual(['who']);
    expect((await mail(template_id)).status).toBe(422);
    const shown = await mail(template_id, { variables: { who: 'Ada' } });
    expect(shown.body.preview).toMatchObject({ subject: 'Hello Ada', text: expect.stringContaining('Come in: https://example.com/a') });
    const other = await mail(template_id, { variables: { who: 'Ada', link: 'https://example.com/b' } });
    expect(other.body.preview.text).toContain('https://example.com/b');
  });

  test('that is changed changes no mail that was made from it', async () => {
    const { template_id } = await store({ text: 'Before.', subject: 'Before' });
    const { body } = await mail(template_id, { mode: 'send', scheduled_at: new Date(Date.now() + 3_600_000).toISOString() });
    expect(body.email).toMatchObject({ template_id, subject: 'Before' });
    expect((await change(template_id, { subject: 'After', html: '<p>After</p>' })).body).toMatchObject({
      ...{ version: 2, subject: 'After', text: 'Before.', html: '<p>After</p>' },
    });
    expect((await change(template_id, { subject: 'After' })).body.version).toBe(2);
    expect((await send(api, `/v1/marketing/emails/${body.email.email_id}`, { headers: staff.auth })).body.subject).toBe('Before');
  });

  test('that is archived is neither sent nor changed any more, is listed apart, and leaves its name to another one', async () => {
    const { template_id, name } = await store({ variables: { who: 'x', link: 'y' } });
    const { status, body } = await send(api, TEMPLATES, { headers: staff.auth, json: { name: name.toUpperCase(), ...WORDS } });
    expect([status, body.code, body.error.param]).toEqual([409, 'conflict', 'name']);
    const archived = (await archive(template_id)).body;
    expect((await archive(template_id)).body).toEqual(archived);
    expect([(await mail(template_id)).status, (await change(template_id, { name: 'x' })).status]).toEqual([409, 409]);
    const idsOf = async (query: string) =>
      (await send(api, `${TEMPLATES}${query}`, { headers: staff.auth })).body.data.map((one: { template_id: string }) => one.template_id);
    expect(await idsOf('')).not.toContain(template_id);
    expect(await idsOf('?archived=true')).toContain(template_id);
    expect((await store({ name })).name).toBe(name);
  });

  test('that there is none of is missing, and a mail comes with its words or with a template, never with both', async () => {
    expect((await mail(newId())).status).toBe(404);
    const { template_id } = await store();
    expect((await mail(template_id, { text: 'Hi' })).status).toBe(422);
    const nothing = await send(api, SEND, { headers: staff.auth, json: { to: { person_ids: [await personId()] } } });
    expect(nothing.status).toBe(422);
  });
});

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

  test('with an unknown filter value is refused with the known ones', async () => {
    const { status, body } = await write({ to: { filter: { consent: 'yes' } }, mode: 'preview' });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      { loc: ['body', 'to', 'filter', 'consent'], msg: 'must be "given", "claimed" or "none"', type: 'invalid_value' },
    ]);
    const unknown = await write({ to: { filter: { stage: 'new' } }, mode: 'preview' });
    expect(unknown.body.errors).toMatchObject([{ loc: ['body', 'to', 'filter', 'stage'] }]);
    expect((await write({ to: { everybody: true } })).body.errors).toMatchObject([{ loc: ['body', 'to'] }]);
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
    for (const forged of [mistyped(token), '', 'x', `${token}A`])
      expect((await fetch(`${pageUrl}?token=${forged}`, { method: 'POST' })).status).toBe(404);
  });
});
