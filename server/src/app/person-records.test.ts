import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeUnclaimed } from '../access/identity/index.ts';
import { clientRequestRoutes, createClientRequests } from '../community/client-requests/index.ts';
import { createEmails, emailRoutes } from '../community/emails/index.ts';
import { createEvents, type Events, registrationRoutes, siteEventRoutes } from '../community/events/index.ts';
import { createInvites, type Invites, inviteRoutes } from '../community/invites/index.ts';
import { peopleRoutes } from '../community/marketing/index.ts';
import { forgetDeparted } from '../community/people/index.ts';
import { type PlansUnderTest, plansUnderTest } from '../money/plans/testing/plans.ts';
import { endpointsOf } from './http/endpoint.ts';
import { INTERNAL_SECRET, type Instance, openTestDatabase, PASSWORD, send, signUp, startInstance } from './http/testing/account-api.ts';
import { personRecords } from './person-records.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let billing: PlansUnderTest;
let api: Instance;
let events: Events;
let invites: Invites;
let admin: Record<string, string>;
const records = () => personRecords(billing.clock);
const pool = () => db.database.pool;

beforeAll(async () => {
  db = await openTestDatabase();
  billing = await plansUnderTest({ pool: pool() });
  const { clock, plans } = billing;
  const publicUrl = () => 'https://gateway.example';
  api = await startInstance(db.database, db.url, {
    clock,
    endpointsOver: (_keys, identity) => {
      events = createEvents({ pool: pool(), clock, identity, plans });
      invites = createInvites({
        pool: pool(),
        clock,
        identity,
        plans,
        unsubscribeFooter: { unsubscribeUrlOf: async () => `${publicUrl()}/unsubscribe` },
      });
      const requests = createClientRequests({ pool: pool(), clock, throttle: identity.throttle });
      const emails = createEmails({ pool: pool(), clock, publicUrl, addressOf: async () => undefined });
      return [
        ...endpointsOf(
          contract.people,
          peopleRoutes({ pool: pool(), clock, isStaff: async () => true, records: records(), closeUnclaimed }),
        ),
        ...endpointsOf(contract.siteEvents, siteEventRoutes({ ...events, clock, pageOf: (slug) => `${publicUrl()}/events/${slug}` })),
        ...endpointsOf(contract.registrations, registrationRoutes({ ...events, clock })),
        ...endpointsOf(contract.invites, inviteRoutes(invites, clock)),
        ...endpointsOf(contract.clientRequests, clientRequestRoutes(requests)),
        ...endpointsOf(contract.emails, emailRoutes(emails)),
      ];
    },
  });
  admin = (await signUp(api, 'admin')).auth;
});
afterAll(async () => {
  await api?.close();
  await billing?.close();
  await db?.close();
});

const post = (path: string, json: object, headers: Record<string, string> = {}) => send(api, path, { method: 'POST', headers, json });
const get = (path: string) => send(api, path, { headers: admin });
const personOf = async (email: string) => (await get(`/v1/marketing/people?q=${encodeURIComponent(email)}`)).body.data[0];

/** The tables with rows that have one of these words, including tables that are added later. */
async function tablesThatSay(...words: readonly string[]): Promise<string[]> {
  const { rows } = await pool().query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool().query(`select from "${name}" as t where t::text ilike any ($1::text[]) limit 1`, [
      words.map((word) => `%${word}%`),
    ]);
    if (rowCount !== 0) found.push(name);
  }
  return found.sort();
}

let serial = 0;
/** A person with data in every table, at an event of one place, and another one on its waitlist. */
async function everythingBy(email: string, word: string): Promise<{ slug: string; waiting: string }> {
  const slug = `party-${++serial}`;
  const made = await post(
    '/v1/events/admin',
    {
      ...{ slug, title: 'Launch', capacity: 1, time_zone: 'UTC' },
      ...{ starts_at: '2099-03-05T18:00:00Z', ends_at: '2099-03-05T22:00:00Z' },
    },
    admin,
  );
  await post(`/v1/events/admin/${made.body.event_id}/publish`, {}, admin);
  const waiting = `waits-${serial}@example.com`;
  const registered = await post(`/v1/events/${slug}/register`, { email, name: `Name ${word}`, company: word, message: word });
  await post(`/v1/events/${slug}/register`, { email: waiting });
  await send(api, `/v1/events/admin/registrations/${registered.body.registration_id}`, {
    ...{ method: 'PATCH', headers: admin, json: { note: word } },
  });
  const asked = await post('/v1/client-requests', { type: 'sales', name: `Name ${word}`, email, message: word });
  await send(api, `/v1/marketing/client-requests/${asked.body.request_id}`, { method: 'PATCH', headers: admin, json: { note: word } });
  const expires_at = new Date(billing.clock.now() + 86_400_000).toISOString();
  const batch = { name: 'Beta', expires_at, credit_usd: '1' };
  await post('/v1/events/admin/invite-batches', { ...batch, recipients: [{ email, name: `Name ${word}` }] }, admin);
  const { body } = await post('/v1/events/admin/invite-batches', { ...batch, shared_uses: 1 }, admin);
  await post('/v1/beta/invite/activate', { code: body.code, email, name: `Name ${word}` });
  await invites.goOn();
  const { person_id } = await personOf(email);
  await post(`/v1/marketing/people/${person_id}/actions`, { action: 'note', note: word }, admin);
  await post('/v1/marketing/emails/send', { to: { person_id }, subject: 'Hello', text: 'Hi' }, admin);
  await pool().query(
    `insert into member_invitations (id, account_id, email, account_role, token_hash, invited_by, created_at, expires_at)
     select gen_random_uuid(), account_id, $1::text, 'viewer', sha256(convert_to($1::text, 'UTF8')), id, $2, $2 from users where role = 'admin' limit 1`,
    [email, new Date(billing.clock.now())],
  );
  await pool().query(
    `insert into email_recipients (recipient_id, email_id, person_id, address, address_hash, name, due_at, at)
     select gen_random_uuid(), email_id, $1, $2::text, address_hash($2), $3, now(), now() from emails order by created_at desc limit 1`,
    [person_id, email, `Name ${word}`],
  );
  return { slug, waiting };
}

const takenAt = async (slug: string) => {
  const { rows } = await pool().query(
    `select status, email from event_registrations where event_id = (select event_id from site_events where slug = $1) order by turn`,
    [slug],
  );
  return rows;
};

test('an erased person’s data is all in the export before, and nowhere in the database after', async () => {
  const [email, word] = ['everywhere@erasable.example', 'zanzibar'];
  const { slug, waiting } = await everythingBy(email, word);
  await events.linkUsers();
  const { person_id, user_id } = await personOf(email);
  expect(user_id).not.toBeNull();
  const told = await tablesThatSay(email, word);

  const { body } = await get(`/v1/marketing/people/${person_id}/export`);
  const kinds = Object.entries<unknown[]>(body.records).filter(([, rows]) => rows.length > 0);
  expect(kinds.map(([kind]) => kind).sort()).toEqual([
    ...['audit_log', 'client_requests', 'invite_activations', 'invites', 'marketing_mails', 'member_invitations', 'registrations'],
    ...['service_mails', 'users'],
  ]);
  expect(JSON.stringify(body)).not.toContain('sealed_');
  expect(told).toEqual([
    ...['accounts', 'client_request_entries', 'client_requests', 'email_recipients', 'event_registrations', 'invite_activations'],
    ...['invites', 'mail_tokens', 'mails', 'member_invitations', 'people', 'person_history', 'users'],
  ]);

  const erased = await post(`/v1/marketing/people/${person_id}/actions`, { action: 'erase' }, admin);
  expect(erased.body).toMatchObject({ changed: true, person: null });
  expect(await tablesThatSay(email, word)).toEqual([]);
  expect(await takenAt(slug)).toEqual([
    { status: 'canceled', email: expect.stringMatching(/@erased\.invalid$/) },
    { status: 'confirmed', email: waiting },
  ]);
  await events.linkUsers();
  await invites.goOn();
  expect((await pool().query("select from users where email like '%@erased.invalid'")).rowCount).toBe(0);
  expect((await pool().query("select from mails where recipient like '%@erased.invalid'")).rowCount).toBe(0);
});

test('closing an account leaves no data under its address, and frees its place', async () => {
  const { email, auth } = await signUp(api);
  const word = 'xanadu';
  const { slug, waiting } = await everythingBy(email, word);
  await events.linkUsers();
  expect((await send(api, '/v1/users/me/close', { headers: auth, json: { password: PASSWORD } })).status).toBe(204);
  await forgetDeparted({ pool: pool(), records: records() });
  expect(await tablesThatSay(email, word)).toEqual(['mails']);
  expect((await pool().query('select template from mails where recipient = $1', [email])).rows).toEqual([{ template: 'account-closed' }]);
  expect(await takenAt(slug)).toMatchObject([{ status: 'canceled' }, { status: 'confirmed', email: waiting }]);
});

test('a person who comes back after closing is not erased with the earlier data', async () => {
  const { email, auth } = await signUp(api);
  await send(api, '/v1/users/me/close', { headers: auth, json: { password: PASSWORD } });
  billing.fake.advance({ days: 1 });
  const { slug } = await everythingBy(email, 'samarkand');
  await forgetDeparted({ pool: pool(), records: records() });
  expect(await takenAt(slug)).toMatchObject([{ status: 'confirmed', email }, { status: 'waitlisted' }]);
  expect(await personOf(email)).toMatchObject({ email });
});

test('a paid place stays taken, and ledger and figures of past events do not change', async () => {
  const email = 'paid@erasable.example';
  const { slug } = await everythingBy(email, 'ctesiphon');
  await pool().query("update event_registrations set payment_status = 'paid', price_nano = 5000000000 where email = $1", [email]);
  const { person_id } = await personOf(email);
  await post(`/v1/marketing/people/${person_id}/actions`, { action: 'erase' }, admin);
  expect(await takenAt(slug)).toMatchObject([{ status: 'confirmed', email: expect.stringContaining('erased') }, { status: 'waitlisted' }]);
});

/** Columns whose names suggest personal data, and what an erasure does with them. */
const TELLING = /(^|_)(e?mails?|addresse?s?|recipients?|name|company|phone|ip|ip_address|user_agent|message|notes?|admin_note)($|_)/;
const ERASED = [
  ...['accounts.name', 'client_request_entries.note', 'client_requests.company', 'client_requests.email', 'client_requests.message'],
  ...[
    'client_requests.name',
    'departed_users.emails',
    'device_logins.client_name',
    'device_logins.ip_address',
    'device_logins.user_agent',
    'directory_users.display_name',
    'directory_users.email',
    'directory_users.family_name',
    'directory_users.given_name',
    'directory_users.user_name',
    'email_recipients.address',
    'email_recipients.company',
    'email_recipients.name',
  ],
  ...['event_registrations.admin_note', 'event_registrations.company', 'event_registrations.email', 'event_registrations.message'],
  ...['event_registrations.name', 'invite_activations.email', 'invite_activations.name', 'invites.email', 'invites.name'],
  ...[
    'mail_requests.email',
    'member_invitations.email',
    'mail_tokens.email',
    'mails.recipient',
    'people.company',
    'people.consent_email',
    'people.email',
    'people.folded_company',
  ],
  ...[
    'people.folded_name',
    'people.name',
    'people.other_emails',
    'sessions.ip_address',
    'sessions.user_agent',
    'users.email',
    'users.name',
  ],
];
const KEPT: Readonly<Record<string, string>> = {
  'audit_log.ip': 'who did what from where proves nothing once it can be changed; it names users by their ids',
  'audit_log.user_agent': 'as the address; what looks like an e-mail address is shortened in it',
  'api_keys.name': 'a label of an account, whose keys are revoked with it',
  'passkeys.name': 'goes with the account',
  'projects.name': 'a label of an account',
  'management_keys.name': 'a label of an account, whose keys are revoked with it',
  'management_keys.allowed_addresses': 'of the computers of a program',
  'directory_groups.display_name': 'a group of a company, deleted with the account',
  'email_recipients.address_hash': 'salted: the record of what was sent',
  'deployments_set_aside.name': 'a provider and a model',
  'email_templates.name': 'the team named it',
  'timers.name': 'recurring work of the server',
  'archive_pieces.table_name': 'which table a piece is of',
  'archived_months.table_name': 'which table a month is of',
  'emails.email_id': 'an id',
  'email_recipients.email_id': 'an id',
  'email_recipients.recipient_id': 'an id',
  'files.filename': 'goes with the account',
  'invite_batches.message': 'the team wrote it to all',
  'invite_batches.name': 'the team named it',
  'known_addresses.address_hash': 'goes with the account',
  'login_failures.ip': 'goes after a day, and with the account',
  'login_failures.user_agent': 'goes after a day, and with the account',
  'mail_handovers.mail_id': 'an id',
  'mails.is_recipient_refused': 'yes or no',
  'receipt_log_checkpoints.note': 'a signed state of the log',
  'receipt_log_witnesses.name': 'a server',
  'schema_migrations.name': 'a migration',
  'site_events.venue_address': 'a place',
  'site_events.venue_name': 'a place',
  'suppressed_addresses.address_hash': 'salted, so that nobody who was erased is written to again',
  'users.email_verified_at': 'a time',
  'webhook_deliveries.message_id': 'an id',
  'video_characters.name': 'a label of an account, deleted with it',
};

test('every column that may have personal data is in the list', async () => {
  const { rows } = await pool().query<{ at: string; name: string }>(
    `select table_name || '.' || column_name as at, column_name as name from information_schema.columns
      where table_schema = 'public' and not (select relispartition from pg_class where oid = table_name::regclass)`,
  );
  const telling = rows.filter(({ name }) => TELLING.test(name)).map(({ at }) => at);
  expect(telling.filter((at) => !ERASED.includes(at) && !(at in KEPT)).sort()).toEqual([]);
  const all = new Set(rows.map(({ at }) => at));
  expect([...ERASED, ...Object.keys(KEPT)].filter((at) => !all.has(at))).toEqual([]);
});

test('a tick for news on any form is on the person, in the history and in the export, and not confirmed by the form', async () => {
  const internal = { 'x-internal-secret': INTERNAL_SECRET };
  const forms = [
    ['ticked-1@example.com', '/v1/events/vibethon/register', {}, 'registration', 'vibethon'],
    ['ticked-2@example.com', '/v1/client-requests', { type: 'sales', name: 'Ada', message: 'Hello' }, 'client_request', null],
    ['ticked-3@example.com', '/v1/users', { password: PASSWORD }, 'user', null],
  ] as const;
  for (const [email, path, rest, source, event_slug] of forms) {
    expect((await post(path, { email, ...rest, marketing_consent: true }, internal)).status).toBe(201);
    const { person_id, consent } = await personOf(email);
    expect(consent).toEqual({ source, event_slug, given_at: expect.any(String), confirmed_at: null });
    const { body } = await get(`/v1/marketing/people/${person_id}/export`);
    expect(body.person).toMatchObject({ consent, history: expect.arrayContaining([expect.objectContaining({ action: 'consent' })]) });
  }
  expect((await get('/v1/marketing/people?consent=claimed')).body.total).toBe(3);
  await post('/v1/client-requests', { type: 'sales', name: 'Ada', message: 'Hello', email: 'not-ticked@example.com' });
  expect((await personOf('not-ticked@example.com')).consent).toBeNull();
  await post('/v1/events/vibethon/register', { email: 'late@example.com' });
  await post('/v1/events/vibethon/register', { email: 'late@example.com', marketing_consent: true });
  expect((await personOf('late@example.com')).consent).toMatchObject({ source: 'registration' });
});
