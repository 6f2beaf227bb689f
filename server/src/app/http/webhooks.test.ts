import { contract } from '@tallygate/contract';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openGuardedHttp } from '../../adapters/webhooks/guarded-http.ts';
import type { WebhookSender } from '../../adapters/webhooks/port.ts';
import { silentLog } from '../../kernel/log.ts';
import {
  Deliveries,
  deleteAccountWebhooks,
  deliverDue,
  forgetMessages,
  placeMessages,
  recordEvent,
  Webhooks,
  webhookRoutes,
} from '../../webhooks/index.ts';
import { type Receiver, startReceiver } from '../../webhooks/testing/receiver.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, MovableClock, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';

type Auth = Record<string, string>;

const clock = new MovableClock();
const HOUR_MS = 3_600_000;
let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let sender: WebhookSender;
let receiver: Receiver;
let owner: Awaited<ReturnType<typeof signUp>>;

beforeAll(async () => {
  db = await openTestDatabase();
  sender = openGuardedHttp({ allowed: ['127.0.0.1'], timeoutMs: 2_000 });
  const { pool } = db.database;
  api = await startInstance(db.database, db.url, {
    clock,
    endpointsOver: (_keys, _identity, box) => {
      const routes = webhookRoutes({
        webhooks: new Webhooks({ pool, box, sender, clock }),
        deliveries: new Deliveries({ pool, clock }),
        events: { pool, isClosing: () => isClosing },
      });
      return endpointsOf(contract.webhooks, routes);
    },
  });
});
let isClosing = false;
beforeEach(async () => {
  clock.offsetMs = 0;
  isClosing = false;
  owner = await signUp(api);
  receiver = await startReceiver();
  return () => receiver.close();
});
afterAll(async () => {
  await sender?.close();
  await api?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.webhooks);

const get = (path: string, auth: Auth = owner.auth) => send(api, path, { headers: auth });
const post = (path: string, json: object, auth: Auth = owner.auth) => send(api, path, { headers: auth, json });
const empty = (path: string, auth: Auth = owner.auth) => send(api, path, { method: 'POST', headers: auth });
const create = async (more: object = {}, auth: Auth = owner.auth) => {
  const { status, body } = await post('/v1/webhook-endpoints', { url: receiver.url, ...more }, auth);
  expect(status).toBe(201);
  return body;
};
const change = (id: string, json: object, auth: Auth = owner.auth) =>
  send(api, `/v1/webhook-endpoints/${id}`, { method: 'PATCH', headers: auth, json });
const tell = (name: string, accountId: string | null = owner.accountId, dedupeKey?: string) =>
  recordEvent(db.database.pool, {
    ...{ accountId, type: 'key.created', data: { key_id: owner.userId, name, livemode: true } },
    ...(dedupeKey !== undefined && { dedupeKey }),
  });
const deps = () => ({ pool: db.database.pool, box: api.box, sender, clock, log: silentLog() });
/** One round of both timers. */
const deliver = async () => {
  await placeMessages(deps());
  await deliverDue(deps());
};
const deliveriesOf = async (id: string, query = '', auth: Auth = owner.auth) =>
  (await get(`/v1/webhook-endpoints/${id}/deliveries${query}`, auth)).body.data;
const told = () => receiver.received.map(({ body }) => JSON.parse(body).data.name);

describe('a webhook', () => {
  test('is created with a secret that is shown once, changed and deleted, each in the audit log', async () => {
    const { secret, ...made } = await create({ description: 'finance', event_types: ['budget.cap_hit'] });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made).toMatchObject({ owner: 'account', url: receiver.url, format: 'standard', status: 'enabled', description: 'finance' });
    expect((await get(`/v1/webhook-endpoints/${made.webhook_id}`)).body).toEqual(made);
    expect((await get('/v1/webhook-endpoints')).body.data).toEqual([made]);
    const changed = await change(made.webhook_id, { description: 'ops', event_types: null });
    expect(changed.body).toMatchObject({ description: 'ops', event_types: null, url: receiver.url });
    const gone = await send(api, `/v1/webhook-endpoints/${made.webhook_id}`, { method: 'DELETE', headers: owner.auth });
    expect(gone.status).toBe(204);
    expect((await get(`/v1/webhook-endpoints/${made.webhook_id}`)).status).toBe(404);
    const { body } = await get('/v1/audit-log');
    const actions = body.data.map(({ action }: { action: string }) => action).filter((action: string) => action.startsWith('webhook.'));
    expect(actions).toEqual(['webhook.deleted', 'webhook.updated', 'webhook.created']);
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  test('keeps its URL and its secret encrypted, and shows no path of a Slack URL', async () => {
    const url = receiver.url.replace('/hook', '/services/T0/B0/hidden-in-the-path');
    const { secret, webhook_id, url: shown } = await create({ url, format: 'slack' });
    expect(shown).toBe(new URL(url).origin);
    const { rows } = await db.database.pool.query('select t::text as row from webhook_endpoints t where id = $1', [webhook_id]);
    expect(rows[0].row).not.toContain('hidden-in-the-path');
    expect(rows[0].row).not.toContain(secret.slice(6));
  });

  test.each([
    ['https://10.0.0.1/', 'url'],
    ['https://[::1]/', 'url'],
    ['https://user:secret@example.com/', 'url'],
    ['ftp://example.com/', 'url'],
    ['example.com', 'url'],
  ])('is refused for %s', async (url, field) => {
    const { status, body } = await post('/v1/webhook-endpoints', { url });
    expect([status, body.error.param]).toEqual([422, field]);
  });

  test('is one of at most twenty', async () => {
    for (let made = 0; made < 20; made += 1) await create();
    expect((await post('/v1/webhook-endpoints', { url: receiver.url })).body.code).toBe('conflict');
  });

  test('of another account is answered as a missing one, by every operation', async () => {
    const { webhook_id } = await create();
    const other = await signUp(api);
    const path = `/v1/webhook-endpoints/${webhook_id}`;
    const answers = [
      await get(path, other.auth),
      await change(webhook_id, { enabled: false }, other.auth),
      await get(`${path}/deliveries`, other.auth),
      await empty(`${path}/test`, other.auth),
      await post(`${path}/replay`, { since: '2026-01-01T00:00:00Z' }, other.auth),
      await post(`${path}/rotate-secret`, {}, other.auth),
      await send(api, path, { method: 'DELETE', headers: other.auth }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    expect((await get('/v1/webhook-endpoints', other.auth)).body.data).toEqual([]);
  });

  test('of the gateway is for administrators alone, and is sent the events of every account', async () => {
    expect((await post('/v1/webhook-endpoints', { url: receiver.url, owner: 'gateway' })).body.code).toBe('forbidden');
    expect((await get('/v1/webhook-endpoints?owner=gateway')).body.code).toBe('forbidden');
    const admin = await signUp(api, 'admin');
    const made = await create({ owner: 'gateway', event_types: ['key.created'] }, admin.auth);
    const ids = async (auth: Auth) =>
      (await get('/v1/webhook-endpoints?owner=gateway', auth)).body.data.map((one: { webhook_id: string }) => one.webhook_id);
    expect(await ids(admin.auth)).toEqual([made.webhook_id]);
    expect((await get(`/v1/webhook-endpoints/${made.webhook_id}`)).status).toBe(404);
    const bare = await newKey(api, admin.auth, { scopes: ['account:read'] });
    expect((await get('/v1/webhook-endpoints?owner=gateway', bare.auth)).body.code).toBe('forbidden');
    const reading = await newKey(api, admin.auth, { scopes: ['account:read', 'admin:read'] });
    expect(await ids(reading.auth)).toEqual([made.webhook_id]);
    await tell('of-an-account');
    await deliver();
    expect(told()).toContain('of-an-account');
    await send(api, `/v1/webhook-endpoints/${made.webhook_id}`, { method: 'DELETE', headers: admin.auth });
  });

  test('goes with the account that closes, and so do its deliveries', async () => {
    const { webhook_id } = await create();
    await tell('last');
    await placeMessages(deps());
    await deleteAccountWebhooks(db.database.pool, owner);
    await deliver();
    expect(receiver.received).toEqual([]);
    expect((await get(`/v1/webhook-endpoints/${webhook_id}`)).status).toBe(404);
  });
});

describe('an event', () => {
  test('is delivered signed as Standard Webhooks has it, as its library verifies', async () => {
    const { secret, webhook_id } = await create();
    const id = await tell('search');
    await deliver();
    const [delivery] = receiver.received;
    const verified = new Webhook(secret).verify(delivery?.body ?? '', delivery?.headers as Record<string, string>);
    expect(verified).toMatchObject({ type: 'key.created', id, account_id: owner.accountId, data: { name: 'search' } });
    expect(delivery?.headers['webhook-id']).toBe(id);
    expect(await deliveriesOf(webhook_id)).toMatchObject([
      { status: 'delivered', next_attempt_at: null, event: { id }, attempts: [{ status_code: 204, error: null }] },
    ]);
  });

  test('is signed with both secrets until the grace period of a rotation ends', async () => {
    const { secret, webhook_id } = await create();
    const rotate = async (grace_seconds: number) =>
      (await post(`/v1/webhook-endpoints/${webhook_id}/rotate-secret`, { grace_seconds })).body;
    const sent = async () => {
      await tell('any');
      await deliver();
      const { body, headers } = receiver.received.at(-1) ?? { body: '', headers: {} };
      const isBy = (key: string) => {
        try {
          return Boolean(new Webhook(key).verify(body, headers as Record<string, string>));
        } catch {
          return false;
        }
      };
      return { signatures: String(headers['webhook-signature']).split(' ').length, isBy };
    };
    const second = await rotate(0);
    expect(second.previous_secret_expires_at).toBeNull();
    const alone = await sent();
    expect([alone.signatures, alone.isBy(secret), alone.isBy(second.secret)]).toEqual([1, false, true]);
    const third = await rotate(3_600);
    expect(third.previous_secret_expires_at).not.toBeNull();
    const both = await sent();
    expect([both.signatures, both.isBy(second.secret), both.isBy(third.secret)]).toEqual([2, true, true]);
    clock.offsetMs = 2 * HOUR_MS;
    expect((await sent()).signatures).toBe(1);
  });

  test('goes to the webhooks of its account that want its type, once each', async () => {
    const other = await signUp(api);
    await create({ event_types: ['key.created', 'key.revoked'] });
    await create({ event_types: ['run.exhausted'] });
    await create({}, other.auth);
    await tell('one', owner.accountId, 'the-same');
    await tell('two', owner.accountId, 'the-same');
    await Promise.all([placeMessages(deps()), placeMessages(deps())]);
    await Promise.all([deliverDue(deps()), deliverDue(deps()), deliverDue(deps())]);
    expect(told()).toEqual(['one']);
  });

  test('is not there where the transaction of its cause fails', async () => {
    const client = await db.database.pool.connect();
    await client.query('begin');
    await recordEvent(client, {
      accountId: owner.accountId,
      type: 'key.created',
      data: { key_id: owner.userId, name: 'x', livemode: true },
    });
    await client.query('rollback');
    client.release();
    await placeMessages(deps());
    expect((await get('/v1/webhook-events')).body.data).toEqual([]);
  });

  test('is delivered in the order of its kind, also where many wait', async () => {
    await create();
    const names = Array.from({ length: 30 }, (_, at) => `event-${at}`);
    for (const name of names) await tell(name);
    await deliver();
    expect(told()).toEqual(names);
  });

  test('of a test goes to the one webhook that was asked for it, whatever its types are', async () => {
    await create();
    const { webhook_id } = await create({ event_types: ['run.exhausted'] });
    const { status, body } = await empty(`/v1/webhook-endpoints/${webhook_id}/test`);
    expect(status).toBe(202);
    const again = await empty(`/v1/webhook-endpoints/${webhook_id}/test`);
    expect([again.status, again.body.code]).toEqual([429, 'rate_limited']);
    await deliver();
    expect(receiver.received.map(({ body: sent }) => JSON.parse(sent))).toMatchObject([{ id: body.event_id, type: 'webhook.test' }]);
  });
});

describe('a delivery that fails', () => {
  test('is tried again later each time with the same id and body, and succeeds', async () => {
    const { webhook_id } = await create();
    receiver.answer = (res) => res.writeHead(500).end();
    await tell('late');
    await deliver();
    await deliver();
    expect(receiver.received).toHaveLength(1);
    clock.offsetMs = 10_000;
    await deliver();
    expect((await get(`/v1/webhook-endpoints/${webhook_id}`)).body).toMatchObject({ status: 'failing' });
    clock.offsetMs = 60_000;
    receiver.answer = (res) => res.writeHead(200).end();
    await deliver();
    const [first, ...others] = receiver.received;
    expect(others).toHaveLength(2);
    for (const { body, headers } of others) expect([body, headers['webhook-id']]).toEqual([first?.body, first?.headers['webhook-id']]);
    const [delivery] = await deliveriesOf(webhook_id);
    expect(delivery.attempts.map(({ status_code }: { status_code: number }) => status_code)).toEqual([500, 500, 200]);
    expect((await get(`/v1/webhook-endpoints/${webhook_id}`)).body).toMatchObject({ status: 'enabled', failing_since: null });
  });

  test.each([
    [
      'reset',
      (res: import('node:http').ServerResponse) => res.socket?.resetAndDestroy(),
      { status_code: null, error: 'connection_failed' },
    ],
    [
      'redirect',
      (res: import('node:http').ServerResponse) => res.writeHead(302, { location: '/' }).end(),
      { status_code: 302, error: 'redirected' },
    ],
  ] as const)('by a %s is listed with its reason', async (_name, answer, attempt) => {
    const { webhook_id } = await create();
    receiver.answer = answer;
    await tell('x');
    await deliver();
    expect(await deliveriesOf(webhook_id, '?status=pending')).toMatchObject([{ status: 'pending', attempts: [attempt] }]);
  });

  /** Until it is given up, from one due time to the next. */
  async function failForDays(): Promise<number> {
    let rounds = 0;
    while (rounds < 40) {
      const { rows } = await db.database.pool.query(
        "select min(d.due_at) as due from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id where e.account_id = $1 and d.status = 'pending'",
        [owner.accountId],
      );
      if (rows[0].due === null) return rounds;
      clock.offsetMs = Math.max(0, rows[0].due.getTime() - Date.now() + 1);
      await deliver();
      rounds += 1;
    }
    throw new Error('It never gives up');
  }

  test('for three days disables the webhook, which is mailed and audited', async () => {
    const { webhook_id } = await create();
    receiver.answer = (res) => res.writeHead(503).end();
    await tell('never');
    await deliver();
    await failForDays();
    expect(receiver.received).toHaveLength(11);
    expect(clock.offsetMs).toBeGreaterThan(64 * HOUR_MS);
    expect(clock.offsetMs).toBeLessThan(80 * HOUR_MS);
    // A session does not last as long.
    clock.offsetMs = 0;
    const { body } = await get(`/v1/webhook-endpoints/${webhook_id}`);
    expect(body).toMatchObject({ status: 'disabled', disabled_reason: 'failed_for_three_days' });
    const { rows } = await db.database.pool.query('select template, data from mails where account_id = $1', [owner.accountId]);
    expect(rows.filter(({ template }) => template === 'webhook-disabled')).toMatchObject([{ data: { webhook_id, answer: 503 } }]);
    const audited = (await get('/v1/audit-log?action=webhook.disabled')).body.data;
    expect(audited).toMatchObject([{ actor: { kind: 'system' }, changes: { reason: 'failed_for_three_days' } }]);
    expect((await empty(`/v1/webhook-endpoints/${webhook_id}/test`)).body.code).toBe('conflict');
  });

  test('with 410 disables the webhook at once', async () => {
    const { webhook_id } = await create();
    receiver.answer = (res) => res.writeHead(410).end();
    await tell('gone');
    await tell('too');
    await deliver();
    expect(receiver.received).toHaveLength(1);
    expect((await get(`/v1/webhook-endpoints/${webhook_id}`)).body).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    expect(await deliveriesOf(webhook_id, '?status=failed')).toHaveLength(2);
  });

  test('keeps no other webhook waiting', async () => {
    const slow = await create();
    receiver.answer = () => {};
    const quick = await startReceiver();
    await create({ url: quick.url });
    await tell('x');
    await placeMessages(deps());
    const stuck = deliverDue(deps());
    const other = deliverDue(deps());
    await expect.poll(() => quick.received.length).toBe(1);
    await Promise.all([stuck, other]);
    expect(await deliveriesOf(slow.webhook_id)).toMatchObject([{ attempts: [{ error: 'timed_out' }] }]);
    quick.close();
  });

  test('because its gateway died is made by another one when the lease ends', async () => {
    const { webhook_id } = await create();
    await tell('survives');
    await placeMessages(deps());
    await db.database.pool.query('update webhook_endpoints set busy_until = $2 where id = $1', [webhook_id, new Date(Date.now() + 60_000)]);
    await deliverDue(deps());
    expect(receiver.received).toEqual([]);
    clock.offsetMs = 61_000;
    await deliverDue(deps());
    expect(told()).toEqual(['survives']);
  });
});

describe('a replay', () => {
  const since = new Date(Date.now() - HOUR_MS).toISOString();

  test('sends one event again, also one that was delivered, under its id', async () => {
    const { webhook_id } = await create();
    const id = await tell('again');
    await deliver();
    const [{ delivery_id }] = await deliveriesOf(webhook_id);
    const { status, body } = await empty(`/v1/webhook-endpoints/${webhook_id}/deliveries/${delivery_id}/replay`);
    expect([status, body.status]).toEqual([200, 'pending']);
    await deliver();
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    expect((await empty(`/v1/webhook-endpoints/${webhook_id}/deliveries/${webhook_id}/replay`)).status).toBe(404);
  });

  test('sends all that failed and all that a disabled webhook missed, and nothing twice', async () => {
    const { webhook_id } = await create();
    await tell('delivered');
    await deliver();
    receiver.answer = (res) => res.writeHead(410).end();
    await tell('failed');
    await deliver();
    await tell('missed');
    await deliver();
    receiver.answer = (res) => res.end();
    const replay = () => post(`/v1/webhook-endpoints/${webhook_id}/replay`, { since });
    expect((await replay()).body.code).toBe('conflict');
    await change(webhook_id, { enabled: true });
    receiver.received.length = 0;
    expect((await replay()).body).toEqual({ replayed: 2 });
    expect((await replay()).body).toEqual({ replayed: 0 });
    await deliver();
    expect(told()).toEqual(['failed', 'missed']);
    expect((await replay()).body).toEqual({ replayed: 0 });
  });
});

describe('the list of events', () => {
  const names = (body: { data: { data: { name: string } }[] }) => body.data.map(({ data }) => data.name);

  test('has the events of the account in one order, each with its place', async () => {
    await tell('first');
    await tell('another account’s', (await signUp(api)).accountId);
    await tell('second');
    await placeMessages(deps());
    const newest = (await get('/v1/webhook-events')).body;
    expect(names(newest)).toEqual(['second', 'first']);
    const [, first] = newest.data;
    expect(names((await get(`/v1/webhook-events?after_sequence=${first.sequence}`)).body)).toEqual(['second']);
    expect(names((await get('/v1/webhook-events?type=key.revoked')).body)).toEqual([]);
    const page = (await get('/v1/webhook-events?after_sequence=0&limit=1')).body;
    expect([names(page), page.has_more]).toEqual([['first'], true]);
    expect(names((await get(`/v1/webhook-events?after_sequence=0&limit=1&cursor=${page.next_cursor}`)).body)).toEqual(['second']);
  });

  test('waits for an event that is to come, and ends waiting when the gateway closes', async () => {
    const waiting = get('/v1/webhook-events?after_sequence=0&wait_seconds=25');
    await tell('awaited');
    await placeMessages(deps());
    const { body } = await waiting;
    expect(names(body)).toEqual(['awaited']);
    const more = get(`/v1/webhook-events?after_sequence=${body.data[0].sequence}&wait_seconds=25`);
    isClosing = true;
    expect((await more).body.data).toEqual([]);
  });

  test('gives a place only after all that were placed before can be seen', async () => {
    const late = await db.database.pool.connect();
    await late.query('begin');
    await recordEvent(late, {
      accountId: owner.accountId,
      type: 'key.created',
      data: { key_id: owner.userId, name: 'slow', livemode: true },
    });
    await tell('quick');
    await placeMessages(deps());
    const [seen] = (await get('/v1/webhook-events')).body.data;
    await late.query('commit');
    late.release();
    await placeMessages(deps());
    expect(names((await get(`/v1/webhook-events?after_sequence=${seen.sequence}`)).body)).toEqual(['slow']);
  });

  test('forgets events with their deliveries after their time', async () => {
    const { webhook_id } = await create();
    await tell('old');
    await deliver();
    await forgetMessages(db.database.pool, new Date(Date.now() - HOUR_MS));
    expect(await deliveriesOf(webhook_id)).toHaveLength(1);
    await forgetMessages(db.database.pool, new Date(Date.now() + HOUR_MS));
    expect(await deliveriesOf(webhook_id)).toEqual([]);
  });
});
