import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientRequestRoutes, createClientRequests } from '../../community/client-requests/index.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';
import { openMailbox } from './testing/mailbox.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let team: Awaited<ReturnType<typeof signUp>>;
let mailbox: ReturnType<typeof openMailbox>;
const clock = { now: Date.now };

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  // A separate instance has the throttle, the only dependency of the slice on identity.
  const first = await startInstance(db.database, db.url, { clock });
  const requests = createClientRequests({ pool, clock, throttle: first.identity.throttle });
  api = await startInstance(db.database, db.url, { clock, endpoints: endpointsOf(contract.clientRequests, clientRequestRoutes(requests)) });
  await first.close();
  team = await signUp(api, 'marketing');
  mailbox = openMailbox(api, db.database);
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

let serial = 0;
/** Each from a different address by default. */
const ask = (input: object = {}, from = `198.51.100.${++serial}`) =>
  send(api, '/v1/client-requests', {
    headers: { 'x-forwarded-for': from },
    json: { type: 'sales', name: 'Ada', email: `client-${++serial}@example.com`, message: 'Forty seats, please.', ...input },
  });
const list = async (query: string) => (await send(api, `/v1/marketing/client-requests${query}`, { headers: team.auth })).body;
const update = (requestId: string, json: object) =>
  send(api, `/v1/marketing/client-requests/${requestId}`, { method: 'PATCH', headers: team.auth, json });
const isOf = (requestId: string) => (one: { request_id: string }) => one.request_id === requestId;

describe('a request', () => {
  test('is confirmed without the sender’s text, mailed to the team with it, and creates a person', async () => {
    const message = 'Forty <b>seats</b>, please.\n\n<script>alert(1)</script>';
    const { status, body } = await ask({ email: 'Ada@client.example', company: 'Engines', client_type: 'startup', message });
    expect([status, Object.keys(body).sort()]).toEqual([201, ['received_at', 'request_id', 'type']]);
    const [confirmation] = await mailbox.to('Ada@client.example');
    expect(confirmation?.text).toContain(body.request_id);
    expect(confirmation?.text).not.toContain('seats');
    const notice = (await mailbox.to(team.email)).at(-1);
    expect(notice?.text).toContain('Forty <b>seats</b>, please.');
    expect(notice?.html).toContain('Forty &lt;b&gt;seats&lt;/b&gt;, please.');
    expect(notice?.html).not.toContain('<script>alert');
    const { rows } = await db.database.pool.query(
      "select email, name, company, client_type, sources from people where email = 'ada@client.example'",
    );
    expect(rows).toEqual([
      { email: 'ada@client.example', name: 'Ada', company: 'Engines', client_type: 'startup', sources: ['client_request'] },
    ]);
  });

  test('is found by status and type, the newest first', async () => {
    const first = (await ask({ type: 'press' })).body.request_id;
    const second = (await ask({ type: 'press' })).body.request_id;
    await update(first, { status: 'in_progress' });
    const ids = ({ data }: { data: { request_id: string }[] }) => data.map(({ request_id }) => request_id);
    expect(ids(await list('?type=press'))).toEqual([second, first]);
    expect(ids(await list('?type=press&status=in_progress'))).toEqual([first]);
    const { next_cursor } = await list('?type=press&limit=1');
    expect(await list(`?type=press&limit=1&cursor=${next_cursor}`)).toMatchObject({ data: [{ request_id: first }], has_more: false });
    expect((await list('?status=nowhere')).data).toEqual([]);
  });

  test('goes the ways that make sense, and is refused with a 409 on any other', async () => {
    const { request_id } = (await ask()).body;
    const go = async (status: string) => (await update(request_id, { status })).status;
    expect(await go('new')).toBe(200);
    for (const [to, answer] of [
      ...[['in_progress', 200] as const, ['waiting', 200] as const, ['new', 409] as const, ['done', 200] as const],
      ...[['declined', 409] as const, ['waiting', 409] as const, ['in_progress', 200] as const, ['declined', 200] as const],
    ])
      expect([to, await go(to)]).toEqual([to, answer]);
    const found = (await list('?limit=200')).data.find(isOf(request_id));
    expect([found.status, found.closed_at]).toEqual(['declined', expect.any(String)]);
    expect(found.history.map(({ changes }: { changes: { status: { to: string } } }) => changes.status.to)).toEqual(
      ['in_progress', 'waiting', 'done', 'in_progress', 'declined'].reverse(),
    );
  });

  test('has an owner of the team, notes, and a history of who did what', async () => {
    const { request_id } = (await ask()).body;
    const { body } = await update(request_id, { owner: team.userId, note: 'Mine.\nI call them.' });
    expect(body).toMatchObject({
      owner: team.userId,
      history: [{ note: 'Mine.\nI call them.', actor: { kind: 'user', id: team.userId } }],
    });
    expect(body.history[0].changes).toEqual({ owner: { from: null, to: team.userId } });
    const member = await signUp(api);
    const refused = await update(request_id, { owner: member.userId });
    expect([refused.status, refused.body.errors[0].loc]).toEqual([422, ['body', 'owner']]);
    expect((await update(request_id, { owner: null })).body.owner).toBeNull();
    const { rows } = await db.database.pool.query('select action, changes from audit_log where target_id = $1 order by id', [request_id]);
    expect(rows).toEqual([
      { action: 'client_request.updated', changes: { owner: { from: null, to: team.userId } } },
      { action: 'client_request.updated', changes: { owner: { from: team.userId, to: null } } },
    ]);
  });

  test('that there is none of is a 404; a change of nothing is a 422', async () => {
    expect((await update('019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', { note: 'x' })).status).toBe(404);
    expect((await update((await ask()).body.request_id, {})).status).toBe(422);
  });

  test.each([
    ['a line break in the name', { name: 'Ada\r\nBcc: eve@example.com' }, 'name'],
    ['two addresses', { email: 'ada@example.com, eve@example.com' }, 'email'],
    ['an unknown type', { type: 'spam' }, 'type'],
    ['a control character', { message: 'a\u0000b' }, 'message'],
    ['a book', { message: 'x'.repeat(5_001) }, 'message'],
  ])('with %s is refused, and nobody gets a mail', async (_what, input, field) => {
    const before = await db.database.pool.query('select count(*)::int as n from mails');
    const { status, body } = await ask(input);
    expect([status, body.errors[0].loc]).toEqual([422, ['body', field]]);
    expect((await db.database.pool.query('select count(*)::int as n from mails')).rows).toEqual(before.rows);
  });

  test('is limited per address and mailbox, without an effect on others', async () => {
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await ask({ email: 'victim@example.com' }, '203.0.113.9')).status);
    expect(statuses).toEqual([201, 201, 201, 429]);
    expect((await ask({ email: 'victim@example.com' }, '203.0.113.10')).status).toBe(201);
  });
});
