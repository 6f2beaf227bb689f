import { contract } from '@tallygate/contract';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createSmtpSender } from '../../adapters/mail/smtp.ts';
import { startSmtpServer } from '../../adapters/mail/testing/smtp-server.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import type { Principal } from '../../http/index.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { upsertContact } from '../people/index.ts';
import { createBounces, createEmailSender, createEmails, createReturnPaths, createUnsubscribing } from './index.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;
const clock = { now: Date.now };
const endings: (() => Promise<void>)[] = [];
const principal: Principal = { kind: 'session', accountId: newId(), userId: newId(), sessionId: newId(), role: 'marketing' };
const caller = { principal, origin: { ip: null, userAgent: null, requestId: 'test' } };

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
  await pool.query("insert into accounts (id, name, created_at) values ($1, 'staff', now())", [principal.accountId]);
});
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

let serial = 0;

/** A mail that a mail server has taken from us, with the return path that it went out under. */
async function sentMail(bounceAddress: string | undefined = 'bounces@mail.example') {
  const server = await startSmtpServer();
  const smtp = createSmtpSender({ url: server.url, from: 'Tallygate <news@mail.example>' });
  endings.push(
    () => server.close(),
    () => smtp.close(),
  );
  const publicUrl = () => 'https://tallygate.test';
  const unsubscribing = createUnsubscribing({ pool, clock });
  const returnPaths = bounceAddress === '' ? undefined : createReturnPaths({ pool, address: bounceAddress });
  const sender = createEmailSender({
    ...{ pool, sender: smtp, unsubscribing, clock, log: silentLog(), publicUrl, perSecond: 1_000, returnPaths },
  });
  const emails = createEmails({ pool, clock, publicUrl, addressOf: async () => 'staff@example.com' });
  const address = `reader-${++serial}@example.com`;
  await upsertContact(pool, { email: address, source: 'registration', at: new Date() });
  const { rows } = await pool.query('select person_id from people where email = $1', [address]);
  const personId: string = rows[0].person_id;
  const send = async () => {
    const request = contract.emails.send.body.parse({ to: { person_id: personId }, subject: 'Hello', text: 'Hi.' });
    const { email } = await emails.send(caller, request);
    await sender.sendDue();
    return email?.email_id ?? '';
  };
  const emailId = await send();
  const link = server.inbox[0]?.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
  const take = createBounces({ pool, clock, unsubscribing, returnPaths });
  return {
    ...{ address, personId, link, send },
    returnPath: server.returnPaths[0] ?? '',
    tokenOf: unsubscribing.tokenOf,
    take: (report: string) => take(Buffer.from(report)),
    progress: async (id = emailId) => (await emails.get(id)).progress,
    person: async () => (await pool.query('select bounced_at from people where email = $1', [address])).rows[0],
    history: async () =>
      (await pool.query("select action, detail from person_history where person_id = $1 and action <> 'seen' order by at", [personId]))
        .rows,
  };
}

interface Report {
  readonly to?: string;
  readonly action?: string;
  readonly status?: string;
  readonly returned?: string;
}

/** As mail servers write it (RFC 3464, appendix E). */
const report = ({ to = 'postmaster@mail.example', action = 'failed', status = '5.1.1', returned = '' }: Report) =>
  [
    'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example>',
    `To: <${to}>`,
    'Subject: Undelivered Mail Returned to Sender',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'I am sorry to have to inform you that your message could not be delivered.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    'Arrival-Date: Sat, 21 Nov 2026 08:00:00 +0000',
    '',
    'Final-Recipient: rfc822; someone@example.com',
    `Action: ${action}`,
    `Status: ${status}`,
    'Diagnostic-Code: smtp; 550 5.1.1 <someone@example.com>:',
    '  no such user',
    '',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    'Subject: Hello',
    ...(returned === '' ? [] : [`List-Unsubscribe: ${returned}`]),
    '',
    '--b--',
    '',
  ].join('\r\n');

test('a report of an invalid address suppresses it, with one entry in the history', async () => {
  const mail = await sentMail();
  expect(mail.returnPath).toMatch(/^bounces\+[0-9a-f]{48}@mail\.example$/);
  const told = report({ to: mail.returnPath.toUpperCase() });
  expect(await mail.take(told)).toMatchObject({ kind: 'hard', status: '5.1.1', state: 'bounced', changed: true });
  expect(await mail.take(told)).toMatchObject({ kind: 'hard', state: 'bounced', changed: false });
  expect(await mail.progress()).toMatchObject({ sent: 0, bounced: 1 });
  expect((await mail.person()).bounced_at).not.toBeNull();
  expect(await mail.history()).toMatchObject([{ action: 'bounce', detail: { error: expect.stringContaining('no such user') } }]);
  expect(await mail.progress(await mail.send())).toMatchObject({ suppressed: 1, sent: 0 });
});

test.each([
  ['delayed', '4.4.1', 'sent'],
  ['failed', '4.4.7', 'failed'],
  ['failed', '5.2.2', 'rejected'],
  ['FAILED', '5.7.1', 'rejected'],
])('a report of %s with %s is noted and leaves the address alone', async (action, status, state) => {
  const mail = await sentMail();
  expect(await mail.take(report({ to: mail.returnPath, action, status }))).toMatchObject({ kind: 'soft', state, changed: true });
  expect((await mail.person()).bounced_at).toBeNull();
  expect(await mail.history()).toMatchObject([{ action: 'soft_bounce' }]);
});

test('without an address for bounces, the signed link in the bounced mail identifies the recipient', async () => {
  const mail = await sentMail('');
  expect(mail.returnPath).toBe('news@mail.example');
  expect(await mail.take(report({ returned: mail.link }))).toMatchObject({ kind: 'hard', state: 'bounced', changed: true });
});

test.each<[string, (mail: Awaited<ReturnType<typeof sentMail>>) => string]>([
  ['is no report', () => 'Subject: Hello\r\n\r\nI am away until Monday.\r\n'],
  ['is no mail', () => '\u0000\u0001'],
  ['says that a mail was delivered', ({ returnPath }) => report({ to: returnPath, action: 'delivered', status: '2.0.0' })],
  ['names no mail', () => report({})],
  [
    'has a return path that was made up',
    ({ returnPath }) => report({ to: returnPath.replace(/.(?=@)/, (last) => (last === '0' ? '1' : '0')) }),
  ],
  ['has a link that was made up', () => report({ returned: `<https://tallygate.test/unsubscribe?token=${'A'.repeat(43)}>` })],
])('what %s is refused and changes nothing', async (_what, message) => {
  const mail = await sentMail();
  await expect(mail.take(message(mail))).rejects.toMatchObject({ code: 'validation_failed' });
  expect(await mail.progress()).toMatchObject({ sent: 1 });
  expect(await mail.history()).toEqual([]);
});

test.each([
  ['delayed', '4.4.1', { kind: 'soft', state: 'sent' }, 'sent'],
  ['failed', '5.2.2', { kind: 'soft', state: 'failed' }, 'failed'],
  ['failed', '5.1.1', { kind: 'hard', state: 'failed' }, 'failed'],
])('a report of %s with %s about an invitation is about that invitation, once', async (action, status, answer, then) => {
  const mail = await sentMail('');
  const [batchId, inviteId] = [newId(), newId()];
  await pool.query(
    `insert into invite_batches (batch_id, name, credit_nano, expires_at, created_by, created_at) values ($1, 'Beta', 0, now(), $1, now())`,
    [batchId],
  );
  await pool.query(
    "insert into invites (invite_id, batch_id, email, status, max_uses, sent_at) values ($1, $2, upper($3), 'sent', 1, now())",
    [inviteId, batchId, mail.address],
  );
  const told = report({ action, status, returned: `<https://tallygate.test/unsubscribe?token=${await mail.tokenOf(inviteId)}>` });
  expect(await mail.take(told)).toMatchObject({ ...answer, recipient_id: null, email_id: null, invite_id: inviteId, changed: true });
  const { rows } = await pool.query('select status, failure from invites where invite_id = $1', [inviteId]);
  expect(rows).toEqual([{ status: then, failure: then === 'sent' ? null : expect.stringContaining(status) }]);
  expect((await mail.person()).bounced_at !== null).toBe(answer.kind === 'hard');
  expect(await mail.take(told)).toMatchObject({ changed: then === 'sent' });
  expect((await mail.history())[0]).toMatchObject({ action: answer.kind === 'hard' ? 'bounce' : 'soft_bounce' });
});
