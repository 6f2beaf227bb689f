import { once } from 'node:events';
import { connect } from 'node:net';
import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeUnclaimed } from '../../access/identity/index.ts';
import { peopleRoutes } from '../../community/marketing/index.ts';
import { type ContactUpsert, upsertContact } from '../../community/people/index.ts';
import { silentLog } from '../../kernel/log.ts';
import { personRecords } from '../person-records.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { createPeerAddress } from './peer-address.ts';
import { peopleTransferRoutes } from './people-transfer-api.ts';
import { type Instance, newKey, openTestDatabase, PASSWORD, send, signUp, startInstance } from './testing/account-api.ts';
import { type FrontUnderTest, openFrontUnderTest } from './testing/front.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let staff: Awaited<ReturnType<typeof signUp>>;
let transferUrl: string;
let front: FrontUnderTest;

const MOST_FILE_BYTES = 1_048_576;

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  const clock = { now: Date.now };
  const isStaff = async (id: string) => (await api.users.find(id))?.role === 'admin';
  api = await startInstance(db.database, db.url, {
    endpoints: endpointsOf(contract.people, peopleRoutes({ pool, clock, isStaff, records: personRecords(clock), closeUnclaimed })),
  });
  staff = await signUp(api, 'admin');
  front = await openFront({});
  transferUrl = `${front.url}/v1/marketing/people`;
});

afterAll(async () => {
  front?.close();
  await api?.close();
  await db?.close();
});

/** Where people go in and out as CSV. */
const openFront = (limits: { readonly idleTimeoutMs?: number }) =>
  openFrontUnderTest(
    () =>
      peopleTransferRoutes({
        ...{ pool: db.database.pool, clock: { now: Date.now }, peerAddress: createPeerAddress([]), log: silentLog() },
        limits: { maxFileBytes: MOST_FILE_BYTES, idleTimeoutMs: 5_000, timeoutMs: 60_000, ...limits },
      }),
    { authenticator: api.authenticator },
  );

let serial = 0;
const at = new Date('2026-11-21T08:00:00Z');
async function person(about: Partial<ContactUpsert> = {}): Promise<{ id: string; email: string }> {
  const email = about.email ?? `person-${++serial}@example.com`;
  await upsertContact(db.database.pool, { source: 'registration', at, ...about, email });
  const { rows } = await db.database.pool.query('select person_id from people where email = $1', [email]);
  return { id: rows[0]?.person_id, email };
}
const path = (rest = '') => `/v1/marketing/people${rest}`;
const get = async (id: string) => (await send(api, path(`/${id}`), { headers: staff.auth })).body?.data?.[0];
const act = (id: string, json: object) => send(api, path(`/${id}/actions`), { headers: staff.auth, json });
const find = async (q: string) => (await send(api, path(`?q=${encodeURIComponent(q)}`), { headers: staff.auth })).body;

testCredentials(() => ({ api, database: db.database }), contract.people);

describe('the people', () => {
  test('are those who have an account too, as soon as they have it', async () => {
    const { email, userId } = await signUp(api);
    expect((await find(email)).data).toMatchObject([{ email, user_id: userId, plan_tier: 'free', sources: ['user'] }]);
  });

  test('no longer have a person who closes the account and has no other source', async () => {
    const { email, auth } = await signUp(api);
    await send(api, '/v1/users/me/close', { headers: auth, json: { password: PASSWORD } });
    expect(await find(email)).toMatchObject({ data: [], has_more: false, total: 0 });
  });

  test('are shown to the marketing role and its keys, and to no member', async () => {
    const member = await signUp(api);
    await db.database.pool.query("update users set role = 'marketing' where id = $1", [member.userId]);
    expect((await send(api, path(), { headers: member.auth })).status).toBe(200);
    const inference = await newKey(api, member.auth, { scopes: ['inference', 'account:read', 'account:write'] });
    expect((await send(api, path(), { headers: inference.auth })).body.code).toBe('scope_required');
    expect((await fetch(`${transferUrl}/export`, { headers: inference.auth })).status).toBe(403);
    const key = await newKey(api, member.auth, { scopes: ['marketing:read'] });
    expect((await send(api, path(), { headers: key.auth })).status).toBe(200);
    expect((await send(api, path(`/${(await person()).id}/actions`), { headers: key.auth, json: {} })).body.code).toBe('scope_required');
    expect((await send(api, path(), { headers: (await signUp(api)).auth })).body.code).toBe('forbidden');
  });

  test.each([
    ...['limit=0', 'limit=201', 'offset=-1', 'q=%00', 'q=%23', 'q=-', 'stauts=new'],
    ...['status=nwe', 'source=web', 'owner=ada', 'plan_tier=Gold'],
  ])('refuse %s', async (query) => {
    expect((await send(api, path(`?${query}`), { headers: staff.auth })).status).toBe(422);
    expect((await fetch(`${transferUrl}/export?${query}`, { headers: staff.auth })).status).toBe(422);
  });

  test('answer an unknown id as missing', async () => {
    const missing = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee99';
    expect((await send(api, path(`/${missing}`), { headers: staff.auth })).status).toBe(404);
    expect((await act(missing, { action: 'tag', tag: 'x' })).status).toBe(404);
    expect((await send(api, path(`/${missing}/export`), { headers: staff.auth })).status).toBe(404);
  });
});

describe('an action', () => {
  test('is in the history, by whom, and in the audit log; a repeat changes nothing', async () => {
    const { id } = await person();
    expect((await act(id, { action: 'tag', tag: 'Beta' })).body).toMatchObject({
      action: 'tag',
      changed: true,
      person: { tags: ['beta'] },
    });
    expect((await act(id, { action: 'tag', tag: 'beta' })).body.changed).toBe(false);
    await act(id, { action: 'set_status', status: 'contacted' });
    await act(id, { action: 'assign_owner', owner: staff.userId });
    await act(id, { action: 'note', note: 'Wants a call.' });
    await act(id, { action: 'untag', tag: 'beta' });
    const { history, ...now } = await get(id);
    expect(now).toMatchObject({ status: 'contacted', owner: staff.userId, tags: [] });
    const actor = { kind: 'user', id: staff.userId };
    expect(history).toMatchObject([
      { action: 'untag', actor, detail: { tag: 'beta' } },
      { action: 'note', detail: { note: 'Wants a call.' } },
      { action: 'assign_owner', detail: { owner: { from: null, to: staff.userId } } },
      { action: 'set_status', detail: { status: { from: 'new', to: 'contacted' } } },
      { action: 'tag', actor },
      { action: 'seen', actor: { kind: 'system', id: null } },
    ]);
    const { rows } = await db.database.pool.query("select action, changes from audit_log where target_id = $1 and action = 'person.note'", [
      id,
    ]);
    expect(rows).toEqual([{ action: 'person.note', changes: {} }]);
  });

  test.each([
    { action: 'assign_owner', owner: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee99' },
    { action: 'resubscribe' },
    { action: 'tag', tag: 'no spaces' },
    { action: 'merge', into: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee99' },
    { action: 'explode' },
  ])('that makes no sense is refused: %j', async (request) => {
    expect((await act((await person()).id, request)).status).toBe(422);
  });

  test('that merges leaves one person with all that both were, under both ids and addresses', async () => {
    const gone = await person({ eventSlug: 'launch', name: 'Ada' });
    const kept = await person({ source: 'client_request', clientType: 'startup' });
    await act(gone.id, { action: 'unsubscribe' });
    expect((await act(gone.id, { action: 'merge', into: kept.id })).body.person).toMatchObject({
      ...{ person_id: kept.id, name: 'Ada', client_type: 'startup', subscription: 'unsubscribed' },
      ...{ sources: ['client_request', 'registration'], event_slugs: ['launch'], other_emails: [gone.email] },
    });
    expect((await get(gone.id)).person_id).toBe(kept.id);
    await person({ email: gone.email, eventSlug: 'second' });
    expect((await get(kept.id)).event_slugs).toEqual(['launch', 'second']);
  });

  test('that merges is safe with concurrent ones: nobody is lost or duplicated', async () => {
    const pool = db.database.pool;
    for (let round = 0; round < 6; round++) {
      const people = await Promise.all(Array.from({ length: 8 }, (_, n) => person({ eventSlug: `round-${round}-${n}` })));
      const at = (n: number) => people[n % people.length] ?? expect.fail('There are people');
      const asked = [...Array(40).keys()].map((n) => {
        // Crosswise, in chains and in rings, beside what else is done with the same people.
        if (n % 5 === 4) return act(at(n * 3).id, { action: 'tag', tag: `t${n}` });
        if (n % 5 === 3) return person({ email: at(n).email, eventSlug: `again-${round}` });
        return act(at(n * 3 + round).id, { action: 'merge', into: at(n * 5 + 1).id });
      });
      for (const one of await Promise.all(asked)) if ('status' in one) expect([200, 404, 422]).toContain(one.status);
      const found = await Promise.all(people.map(({ id }) => get(id)));
      for (const [n, one] of found.entries()) {
        expect([one.email, ...one.other_emails]).toContain(at(n).email);
        expect(one.event_slugs).toContain(`round-${round}-${n}`);
        const { rows: known } = await pool.query('select person_id from people where email = $1 or $1 = any(other_emails)', [at(n).email]);
        expect(known.map(({ person_id }) => person_id)).toEqual([one.person_id]);
      }
    }
  });

  test('that merges two users is refused', async () => {
    const [one, two] = await Promise.all([signUp(api), signUp(api)]);
    const [first, second] = [(await find(one.email)).data[0], (await find(two.email)).data[0]];
    expect((await act(first.person_id, { action: 'merge', into: second.person_id })).status).toBe(409);
  });

  test('that unsubscribes holds until it is lifted with a reason', async () => {
    const { id, email } = await person();
    await act(id, { action: 'unsubscribe' });
    await person({ email, eventSlug: 'again' });
    expect((await get(id)).subscription).toBe('unsubscribed');
    await act(id, { action: 'resubscribe', reason: 'Asked for it in person.' });
    expect(await get(id)).toMatchObject({ subscription: 'subscribed', unsubscribed_at: null });
  });

  test('that erases leaves nothing, and no import restores them', async () => {
    const { id, email } = await person({ name: 'Forget Me' });
    await act(id, { action: 'note', note: 'Something personal' });
    expect((await act(id, { action: 'erase' })).body).toEqual({ action: 'erase', changed: true, person: null });
    expect((await person({ email })).id).toBeUndefined();
    expect((await find(email)).total).toBe(0);
    const { rows } = await db.database.pool.query(
      `select (select count(*) from person_history where person_id = $1::uuid) as history,
              (select count(*) from audit_log where target_id = $1::text and changes::text like '%personal%') as audited`,
      [id],
    );
    expect(rows).toEqual([{ history: 0n, audited: 0n }]);
  });

  test('that erases a person with an account is refused', async () => {
    const { email } = await signUp(api);
    expect((await act((await find(email)).data[0].person_id, { action: 'erase' })).status).toBe(409);
  });
});

test('the export of a person has all data under their address', async () => {
  const { email, userId } = await signUp(api);
  const { person_id } = (await find(email)).data[0];
  const { body } = await send(api, path(`/${person_id}/export`), { headers: staff.auth });
  expect(body).toMatchObject({ person: { email }, records: { users: [{ user_id: userId, email, role: 'member', plan: null }] } });
  expect(JSON.stringify(body)).not.toContain('argon2');
});

test('a note keeps its lines, with every kind of line break', async () => {
  const { id } = await person();
  await act(id, { action: 'note', note: 'First.\r\n\tSecond.' });
  expect((await get(id)).history).toMatchObject([{ action: 'note', detail: { note: 'First.\n\tSecond.' } }, {}]);
  expect((await act(id, { action: 'note', note: ' \n ' })).status).toBe(422);
});

describe('CSV', () => {
  const upload = async (csv: BodyInit, headers: Record<string, string> = { 'content-type': 'text/csv' }) => {
    const answer = await fetch(`${transferUrl}/import`, { method: 'POST', headers: { ...staff.auth, ...headers }, body: csv });
    return { status: answer.status, body: await answer.json() };
  };
  const download = async (query: string) => (await fetch(`${transferUrl}/export?${query}`, { headers: staff.auth })).text();

  test('takes good rows, and names the others by their lines', async () => {
    const gone = await person();
    await act(gone.id, { action: 'erase' });
    const known = await person();
    const { status, body } = await upload(
      [
        'Email,name,tags,client_type',
        'New-1@example.com,"Lovelace, Ada",vip;beta,startup',
        'not an address,X,,',
        `${known.email},Known,vip,`,
        '"broken"x,,,',
        `${gone.email},Gone,,`,
        'too,few',
        '',
      ].join('\r\n'),
    );
    expect([status, body]).toEqual([
      200,
      {
        ...{ rows: 6, created: 1, updated: 1, skipped: 1, failed: 3 },
        errors: [
          { line: 3, message: 'email: must be an e-mail address such as ada@example.com' },
          { line: 5, message: 'text after a closing quote' },
          { line: 7, message: 'has 2 cells instead of 4' },
        ],
      },
    ]);
    expect((await find('new-1@example.com')).data).toMatchObject([
      { name: 'Lovelace, Ada', tags: ['beta', 'vip'], client_type: 'startup', sources: ['import'] },
    ]);
  });

  test('registers nobody for an event that does not exist', async () => {
    const { body } = await upload('email,event_slug\nthere@example.com,vibethon\nnowhere@example.com,no-such-event\nplain@example.com,\n');
    expect(body).toMatchObject({
      ...{ rows: 3, created: 2, failed: 1 },
      errors: [{ line: 3, message: 'event_slug: must be the slug of an event that there is' }],
    });
    expect((await find('there@example.com')).data).toMatchObject([{ event_slugs: ['vibethon'] }]);
    expect((await find('nowhere@example.com')).total).toBe(0);
  });

  test('is idempotent', async () => {
    const csv = 'email,name\ntwice@example.com,Twice\n';
    expect([(await upload(csv)).body.created, (await upload(csv)).body.updated]).toEqual([1, 1]);
    expect((await find('twice@example.com')).total).toBe(1);
  });

  test('goes out as it can come in again, and no cell is a formula', async () => {
    await person({ email: 'formula@example.com', name: '=HYPERLINK("http://evil")', company: 'Commas, Inc.', eventSlug: 'csv' });
    const csv = await download('event_slug=csv');
    expect(csv.split('\r\n')[0]).toContain('person_id,email,name,company,status');
    expect(csv).toContain(`formula@example.com,"'=HYPERLINK(""http://evil"")","Commas, Inc.",new`);
    expect(csv.split('\r\n')).toHaveLength(3);
  });

  test('imports consent on record, except for people who have unsubscribed since', async () => {
    const gone = await person({ email: 'gone-off@example.com' });
    await act(gone.id, { action: 'unsubscribe' });
    const csv = [
      'email,consent,consent_given_at,tags',
      'recorded@example.com,given,2026-01-02T03:04:05Z,consent',
      'gone-off@example.com,given,,consent',
      'unsure@example.com,claimed,,consent',
      'later@example.com,given,2999-01-01T00:00:00Z,consent',
      'odd@example.com,perhaps,,consent',
    ].join('\n');
    expect((await upload(csv)).body).toMatchObject({
      errors: [
        { line: 5, message: 'consent_given_at: must not be in the future' },
        { line: 6, message: 'consent: must be given or empty' },
      ],
    });
    await upload(csv);
    const { data } = await find('#consent');
    expect(data.map(({ email, consent }: Record<string, unknown>) => [email, consent])).toEqual([
      ['unsure@example.com', null],
      [
        'recorded@example.com',
        { source: 'import', event_slug: null, given_at: '2026-01-02T03:04:05.000Z', confirmed_at: expect.any(String) },
      ],
      ['gone-off@example.com', null],
    ]);
    const recorded = data[1];
    expect((await get(recorded.person_id)).history.filter(({ action }: { action: string }) => action === 'consent')).toMatchObject([
      { actor: { kind: 'user' }, detail: { source: 'import' } },
    ]);
    expect(await download('consent=given')).toContain(',given,import,2026-01-02T03:04:05.000Z,');
  });

  test('of an export changes nobody', async () => {
    await person({ email: 'round@example.com', name: '=Trip', eventSlug: 'round-trip' });
    const csv = await download('event_slug=round-trip');
    expect((await upload(csv)).body).toMatchObject({ rows: 1, updated: 1, failed: 0 });
    expect(await download('event_slug=round-trip')).toContain("round@example.com,'=Trip");
  });

  test.each<[string, BodyInit, Record<string, string> | undefined, number]>([
    ['without a column email', 'name\nAda\n', undefined, 422],
    ['with a column that nobody knows', 'email,shoe_size\na@example.com,40\n', undefined, 422],
    ['that is empty', '', undefined, 422],
    ['that is no UTF-8', new Uint8Array([...Buffer.from('email,name\na@example.com,'), 0xe9, 0x0a]), undefined, 422],
    ['that is too large', `email\n${'x'.repeat(MOST_FILE_BYTES)}`, undefined, 413],
    ['that says it is JSON', '{}', { 'content-type': 'application/json' }, 415],
  ])('%s is refused', async (_what, csv, headers, status) => {
    expect((await upload(csv, headers)).status).toBe(status);
  });

  /** The beginning of a request of a million bytes whose columns are refused. */
  const begin = (port: number) => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    socket.write(
      `POST /v1/marketing/people/import HTTP/1.1\r\nHost: x\r\nAuthorization: ${staff.auth['authorization']}\r\n` +
        `Content-Type: text/csv\r\nContent-Length: 1000000\r\n\r\n`,
    );
    return socket;
  };

  test('that is refused while it arrives is taken to its end, and the connection is used again', async () => {
    const socket = begin(front.port);
    const columns = 'name\n';
    socket.write(columns);
    const [refusal] = await once(socket, 'data');
    expect(refusal).toMatch(/^HTTP\/1.1 422 /);
    socket.write(`${'x'.repeat(1_000_000 - columns.length)}GET /v1/marketing/people/export HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
  });

  test('that stops arriving is refused with a timeout error', async () => {
    const impatient = await openFront({ idleTimeoutMs: 50 });
    const socket = begin(impatient.port);
    const [refusal] = await once(socket, 'data');
    expect(refusal).toMatch(/^HTTP\/1.1 408 .*request_timeout/s);
    socket.destroy();
    impatient.close();
  });

  test('is refused without the role', async () => {
    const member = await signUp(api);
    expect((await fetch(`${transferUrl}/export`, { headers: member.auth })).status).toBe(403);
    expect((await fetch(`${transferUrl}/import`, { method: 'POST', body: 'email' })).status).toBe(401);
  });
});
