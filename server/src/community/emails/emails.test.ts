import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { contract } from '@tallygate/contract';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createSmtpSender } from '../../adapters/mail/smtp.ts';
import { startSmtpServer } from '../../adapters/mail/testing/smtp-server.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import type { Principal } from '../../http/index.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { suppress, upsertContact } from '../people/index.ts';
import { createExpansion } from './expand.ts';
import { createEmailSender, createEmails, createUnsubscribing } from './index.ts';
import { render } from './render.ts';

const PROCESS = join(import.meta.dirname, 'testing/sender-process.ts');
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;
const clock = { nowMs: Date.parse('2026-11-21T08:00:00Z'), now: () => clock.nowMs };
const endings: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 12 });
  await pool.query("insert into accounts (id, name, created_at) values ($1, 'staff', now())", [principal.accountId]);
});
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const at = new Date(clock.nowMs);
const principal: Principal = { kind: 'session', accountId: newId(), userId: newId(), sessionId: newId(), role: 'marketing' };
const caller = { principal, origin: { ip: null, userAgent: null, requestId: 'test' } };
let serial = 0;
async function person(email = `person-${++serial}@example.com`, name: string | null = null): Promise<{ id: string; email: string }> {
  await upsertContact(pool, { email, name, source: 'registration', at });
  const { rows } = await pool.query('select person_id from people where email = $1', [email]);
  return { id: rows[0].person_id, email };
}

async function worldOf(behaviour: Parameters<typeof startSmtpServer>[0] = {}, perSecond = 100_000) {
  const server = await startSmtpServer(behaviour);
  const smtp = createSmtpSender({ url: server.url, from: 'Tallygate <news@mail.example>', connections: 4 });
  endings.push(
    () => server.close(),
    () => smtp.close(),
  );
  const publicUrl = () => 'https://tallygate.test';
  const unsubscribing = createUnsubscribing({ pool, clock });
  const sender = createEmailSender({ pool, sender: smtp, unsubscribing, clock, log: silentLog(), publicUrl, perSecond });
  const emails = createEmails({ pool, clock, publicUrl, addressOf: async () => 'Staff@example.com' });
  const send = async (request: object) =>
    emails.send(caller, contract.emails.send.body.parse({ subject: 'Hello', text: 'Hi {{first_name|there}}', ...request }));
  const progressOf = async (emailId: string | undefined) => (await emails.get(emailId ?? '')).progress;
  return { server, sender, emails, unsubscribing, send, progressOf };
}

const tagged = (tag: string, count: number) =>
  pool.query(
    `insert into people (person_id, email, sources, tags, created_at, updated_at)
     select gen_random_uuid(), $1 || '-' || i || '@example.com', '{import}', array[$1], now(), now() from generate_series(1, $2::int) as i
     on conflict do nothing`,
    [tag, count],
  );

describe('a mail', () => {
  test('is answered where it says, or where the gateway does, or at the sender', async () => {
    const { server, sender, send } = await worldOf();
    const { id, email } = await person();
    await send({ to: { person_id: id }, reply_to: 'Team@example.com' });
    await send({ to: { person_id: id } });
    const emails = createEmails({
      pool,
      clock,
      publicUrl: () => 'https://tallygate.test',
      addressOf: async () => undefined,
      replyTo: 'desk@example.com',
    });
    const { email: made } = await emails.send(
      caller,
      contract.emails.send.body.parse({ to: { person_id: id }, subject: 'Hello', text: 'Hi.' }),
    );
    expect(made?.reply_to).toBe('desk@example.com');
    await sender.sendDue();
    const said = server.inbox.filter(({ to }) => to?.[0]?.address === email).map(({ replyTo }) => replyTo?.[0]?.address ?? null);
    expect(said.sort()).toEqual(['Team@example.com', 'desk@example.com', null]);
  });

  test('says the name in text and HTML, and how to unsubscribe in one click', async () => {
    const { server, sender, send, unsubscribing } = await worldOf();
    const { id, email } = await person('ada@example.com', 'Ada <b>Lovelace');
    const { email: made } = await send({
      ...{ to: { person_id: id }, subject: 'For {{name}}', text: 'Hi {{first_name|there}}: {{link}}' },
      ...{ html: '<p>{{name}}</p>', variables: { link: 'https://example.com/?a=1&b=2' } },
    });
    await sender.sendDue();
    const [mail] = server.inbox;
    const url = /https:\S+/.exec(mail?.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '')?.[0].replace(/>$/, '') ?? '';
    expect(mail?.to).toMatchObject([{ address: email }]);
    expect(mail?.subject).toBe('For Ada <b>Lovelace');
    expect(mail?.text).toContain('Hi Ada: https://example.com/?a=1&b=2');
    expect(mail?.html).toContain('<p>Ada &lt;b&gt;Lovelace</p>');
    expect([mail?.text, mail?.html].every((part) => part?.includes(url))).toBe(true);
    expect(mail?.headers.find(({ key }) => key === 'list-unsubscribe-post')?.value).toBe('List-Unsubscribe=One-Click');
    expect(mail?.messageId).toMatch(/^<[0-9a-f-]{36}@mail.example>$/);

    const token = new URL(url).searchParams.get('token') ?? '';
    expect(await unsubscribing.unsubscribe(token)).toBe(true);
    expect(await unsubscribing.unsubscribe(token)).toBe(true);
    const { rows } = await pool.query('select unsubscribed_at from people where email = $1', [email]);
    expect(rows[0].unsubscribed_at).toEqual(at);
    await send({ to: { person_id: id } });
    await sender.sendDue();
    expect(server.inbox).toHaveLength(1);
    expect(made?.state).toBe('scheduled');
  });

  test.each(['', 'x', `${'A'.repeat(42)}`, Buffer.alloc(32).toString('base64url')])(
    'is unsubscribed from by no made-up token %j',
    async (token) => {
      expect(await (await worldOf()).unsubscribing.unsubscribe(token)).toBe(false);
    },
  );

  test('ends with the postal address of the sender, as text in both parts', () => {
    const { text, html } = render(
      { subject: 'Hi', text: 'Hi.', html: '<body>Hi. {{unsubscribe_url}}</body>', variables: {} },
      { email: 'ada@example.com', name: null, company: null },
      { unsubscribeUrl: 'https://tallygate.test/u', postalAddress: 'Example & Co, 1 Main St' },
    );
    expect(text).toBe('Hi.\n\n--\nUnsubscribe: https://tallygate.test/u\nExample & Co, 1 Main St\n');
    expect(html).toMatch(/Example &amp; Co, 1 Main St<\/p>\n<\/body>$/);
    expect(html).not.toContain('>Unsubscribe<');
  });

  test('is previewed without being sent, and its test goes to the caller only', async () => {
    const { server, sender, send } = await worldOf();
    const { id } = await person(undefined, 'Grace Hopper');
    const previewed = await send({ to: { person_id: id }, mode: 'preview' });
    expect(previewed).toMatchObject({
      email: null,
      recipients: 1,
      preview: { subject: 'Hello', text: expect.stringContaining('Hi Grace') },
    });
    await send({ to: { person_id: id }, mode: 'test' });
    await sender.sendDue();
    expect(server.inbox.map(({ to, text }) => [to?.[0]?.address, text?.includes('Hi Grace')])).toEqual([['staff@example.com', true]]);
  });

  test('that is scheduled goes out when its time has come, to those who fit then', async () => {
    const { server, sender, send } = await worldOf();
    await upsertContact(pool, { email: 'early@example.com', source: 'registration', eventSlug: 'timed', at });
    await send({ to: { filter: { event_slug: 'timed' } }, scheduled_at: '2026-11-21T09:00:00Z' });
    await sender.sendDue();
    expect(server.inbox).toEqual([]);
    await upsertContact(pool, { email: 'late@example.com', source: 'registration', eventSlug: 'timed', at });
    clock.nowMs += 3_600_000;
    await sender.sendDue();
    expect(server.inbox.map(({ to }) => to?.[0]?.address).sort()).toEqual(['early@example.com', 'late@example.com']);
  });

  test('that is canceled is sent to no further recipient', async () => {
    const { server, sender, send, emails } = await worldOf();
    const { email } = await send({ to: { person_id: (await person()).id } });
    expect((await emails.cancel(caller, email?.email_id ?? '')).state).toBe('canceled');
    await sender.sendDue();
    expect(server.inbox).toEqual([]);
    await expect(emails.cancel(caller, email?.email_id ?? '')).rejects.toMatchObject({ code: 'conflict' });
  });

  test('that is canceled while its recipients are looked up has none left that wait', async () => {
    const { send, progressOf } = await worldOf();
    await tagged('looked-up', 3_000);
    const { email } = await send({ to: { filter: { q: '#looked-up' } } });
    const expansion = createExpansion(pool, clock);
    await expansion.goOn(0);
    const canceling = await pool.connect();
    await canceling.query('begin');
    await canceling.query("update emails set state = 'canceled' where email_id = $1", [email?.email_id]);
    await canceling.query("update email_recipients set state = 'canceled' where email_id = $1", [email?.email_id]);
    const going = expansion.goOn(0);
    const isWaiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await Promise.race([going, expect.poll(async () => (await pool.query(isWaiting)).rowCount).toBe(1)]);
    await canceling.query('commit');
    canceling.release();
    await going;
    expect(await expansion.goOn(0)).toBe(false);
    const { recipients, canceled } = await progressOf(email?.email_id);
    expect(recipients).toBeGreaterThan(0);
    expect(canceled).toBe(recipients);
  });

  test('to very many does not delay others: tests go first, other mails get every other turn', async () => {
    const order: string[] = [];
    let whenBegun = async () => {};
    const recipient = async () => {
      const begin = whenBegun;
      whenBegun = async () => {};
      await begin();
      return 250;
    };
    const { sender, send } = await worldOf({ recipient, accepted: (address) => void order.push(address) }, 50);
    await tagged('crowd', 150);
    await tagged('few', 5);
    whenBegun = async () => {
      await send({ to: { filter: { q: '#few' } } });
      await send({ to: { filter: { q: '#crowd' } }, mode: 'test' });
    };
    await send({ to: { filter: { q: '#crowd' } } });
    await sender.sendDue();
    expect(order).toHaveLength(156);
    const lastOfFew = order.findLastIndex((address) => address.startsWith('few'));
    // A batch is 50 mails: the test is in the second one, and the others in the third at the latest, however slowly they were looked up.
    expect(order.indexOf('staff@example.com')).toBeLessThan(60);
    expect(lastOfFew).toBeLessThan(130);
  });

  test('with a variable without a value is refused, and so is one without recipients', async () => {
    const { send } = await worldOf();
    await expect(send({ to: { person_id: (await person()).id }, text: '{{surprise}}' })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    await expect(send({ to: { person_id: newId() } })).rejects.toMatchObject({ code: 'validation_failed' });
  });

  test('whose subject would be empty for those whose name is not known is refused', async () => {
    const { send } = await worldOf();
    const to = { person_id: (await person()).id };
    await expect(send({ to, subject: '{{first_name}} {{company}}' })).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(send({ to, subject: '{{first_name|Hello}}' })).resolves.toMatchObject({ recipients: 1 });
  });
});

describe('what the mail server says', () => {
  test('permanently of an address is a bounce, and the address gets nothing any more', async () => {
    const { server, sender, send, progressOf } = await worldOf({ recipient: (address) => (address.startsWith('gone') ? 550 : 250) });
    const gone = await person('gone@example.com');
    const to = { person_ids: [gone.id, (await person()).id] };
    const { email } = await send({ to });
    await sender.sendDue();
    expect(await progressOf(email?.email_id)).toMatchObject({ recipients: 2, sent: 1, bounced: 1, queued: 0 });
    const second = await send({ to });
    await sender.sendDue();
    expect(await progressOf(second.email?.email_id)).toMatchObject({ sent: 1, suppressed: 1 });
    expect(server.inbox.every(({ to: recipients }) => recipients?.[0]?.address !== gone.email)).toBe(true);
    const { rows } = await pool.query("select detail from person_history where person_id = $1 and action = 'bounce'", [gone.id]);
    expect(rows[0].detail.error).toContain('550');
  });

  test('permanently of a mail is a rejection of that mail alone', async () => {
    const { sender, send, progressOf } = await worldOf({ data: () => 554 });
    const { id } = await person();
    const { email } = await send({ to: { person_id: id } });
    await sender.sendDue();
    expect(await progressOf(email?.email_id)).toMatchObject({ rejected: 1 });
    const { rows } = await pool.query('select bounced_at from people where person_id = $1', [id]);
    expect(rows[0].bounced_at).toBeNull();
  });

  test('for now is tried again later, and given up in the end', async () => {
    const answers = [451, 451];
    const { server, sender, send, progressOf } = await worldOf({ data: () => answers.shift() ?? 250 });
    const { email } = await send({ to: { person_id: (await person()).id } });
    await sender.sendDue();
    await sender.sendDue();
    expect([server.inbox.length, await progressOf(email?.email_id)]).toEqual([0, expect.objectContaining({ queued: 1 })]);
    for (let tries = 0; tries < 2; tries++) {
      clock.nowMs += 3_600_000;
      await sender.sendDue();
    }
    expect([server.inbox.length, await progressOf(email?.email_id)]).toEqual([1, expect.objectContaining({ sent: 1 })]);
    answers.push(...Array.from({ length: 20 }, () => 451));
    const hopeless = await send({ to: { person_id: (await person()).id } });
    for (let tries = 0; tries < 9; tries++) {
      await sender.sendDue();
      clock.nowMs += 3_600_000;
    }
    expect(await progressOf(hopeless.email?.email_id)).toMatchObject({ failed: 1, queued: 0 });
  });

  test('is not waited for where it cannot be reached: the mail goes out once it is back', async () => {
    const { server, sender, send, progressOf } = await worldOf();
    await server.close();
    const { email } = await send({ to: { person_id: (await person()).id } });
    await sender.sendDue();
    expect(await progressOf(email?.email_id)).toMatchObject({ queued: 1 });
    clock.nowMs += 60_000;
    const back = await worldOf();
    await back.sender.sendDue();
    expect([back.server.inbox.length, await progressOf(email?.email_id)]).toEqual([1, expect.objectContaining({ sent: 1 })]);
  });

  test('does not delay an unsubscription while it is talking', async () => {
    const last = 'last-moment@example.com';
    const { server, sender, send, progressOf } = await worldOf({
      recipient: async (address) => {
        if (address === last) await suppress(pool, { emails: [last], reason: 'unsubscribed', at });
        return 250;
      },
    });
    const { email } = await send({ to: { person_ids: [(await person(last)).id, (await person()).id] } });
    await sender.sendDue();
    expect(await progressOf(email?.email_id)).toMatchObject({ sent: 1, suppressed: 1 });
    expect(server.inbox).toHaveLength(1);
  });
});

test('of 500 recipients, none gets two mails although the sender is killed twice', async () => {
  const count = 500;
  const received: string[] = [];
  const isSuppressed = (address: string) => /-\d+7@/.test(address);
  const { server, send, emails, progressOf } = await worldOf({
    recipient: (address) => (address.startsWith('bulk-13@') ? 550 : 250),
    accepted: (address) => void received.push(address),
  });
  await tagged('bulk', count);
  const all = Array.from({ length: count }, (_, i) => `bulk-${i + 1}@example.com`);
  await suppress(pool, { emails: all.filter(isSuppressed), reason: 'unsubscribed', at });
  clock.nowMs = Date.now();
  const { email } = await send({ to: { filter: { q: '#bulk' } } });

  const start = () => spawn(process.execPath, ['--conditions=tallygate-source', PROCESS, database.url, server.url], { stdio: 'inherit' });
  for (const enough of [100, 270]) {
    const child = start();
    const exited = once(child, 'exit');
    await expect.poll(() => received.length, { interval: 5 }).toBeGreaterThan(enough);
    child.kill('SIGKILL');
    await exited;
  }
  let progress = await progressOf(email?.email_id);
  for (let round = 0; round < 20 && progress.queued > 0; round++) {
    await once(start(), 'exit');
    progress = await progressOf(email?.email_id);
  }

  const wanted = all.filter((address) => !isSuppressed(address) && address !== 'bulk-13@example.com');
  expect(new Set(received).size).toBe(received.length);
  expect(received.filter(isSuppressed)).toEqual([]);
  const unconfirmed = (await emails.recipients(email?.email_id ?? '', { state: 'unconfirmed', limit: 200 })).data;
  const missing = wanted.filter((address) => !received.includes(address));
  expect(unconfirmed.map(({ to }) => to)).toEqual(expect.arrayContaining(missing));
  // Of the eight that may be on their way at each death.
  expect(unconfirmed.length).toBeLessThanOrEqual(16);
  expect(progress).toMatchObject({
    recipients: count,
    suppressed: all.filter(isSuppressed).length,
    bounced: 1,
    queued: 0,
    failed: 0,
    rejected: 0,
  });
  expect(progress.sent + progress.unconfirmed).toBe(wanted.length);
  process.stdout.write(`unconfirmed after two deaths: ${unconfirmed.length}, of them not received: ${missing.length}\n`);
});
