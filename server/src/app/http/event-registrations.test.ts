import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeUnclaimed } from '../../access/identity/index.ts';
import type { Events } from '../../community/events/index.ts';
import { peopleRoutes } from '../../community/marketing/index.ts';
import { personRecords } from '../person-records.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, MovableClock, send, signUp, startInstance } from './testing/account-api.ts';
import { type EventApi, startEventApi } from './testing/event-api.ts';

let world: EventApi;
let api: Instance;
let events: Events;
let admin: Record<string, string>;
let mailbox: EventApi['mailbox'];
const clock = new MovableClock();

beforeAll(async () => {
  world = await startEventApi(() => clock);
  ({ api, events, admin, mailbox } = world);
});
afterAll(async () => {
  await world?.close();
});

let serial = 0;
const somebody = () => `guest-${++serial}@example.com`;
const somewhere = () => ({ 'x-forwarded-for': `203.0.113.${++serial % 250}` });

/** A separate published event. */
async function event(over: object = {}): Promise<{ slug: string; event_id: string }> {
  const { body } = await send(api, '/v1/events/admin', {
    headers: admin,
    json: {
      slug: `event-${++serial}`,
      title: 'Launch day',
      starts_at: '2099-03-05T18:00:00+01:00',
      ends_at: '2099-03-05T22:00:00+01:00',
      time_zone: 'Europe/Berlin',
      ...over,
    },
  });
  await act(body.event_id, 'publish');
  return body;
}
const act = (eventId: string, step: string) => send(api, `/v1/events/admin/${eventId}/${step}`, { method: 'POST', headers: admin });
const patchEvent = (eventId: string, json: object) => send(api, `/v1/events/admin/${eventId}`, { method: 'PATCH', headers: admin, json });
const register = (slug: string, json: object) => send(api, `/v1/events/${slug}/register`, { headers: somewhere(), json });
const status = async (slug: string, email: string) =>
  (await send(api, `/v1/events/${slug}/registration-status?email=${encodeURIComponent(email)}`, { headers: somewhere() })).body;
const edit = (registrationId: string, json: object) =>
  send(api, `/v1/events/admin/registrations/${registrationId}`, { method: 'PATCH', headers: admin, json });
const listed = async (slug: string) =>
  (await send(api, '/v1/events/admin/registrations', { headers: admin })).body.filter(
    (one: { event_slug: string }) => one.event_slug === slug,
  );

describe('the list of all registrations', () => {
  test('has as many as are asked for, of the state that is asked for, the newest first', async () => {
    const { slug } = await event();
    const emails = [somebody(), somebody(), somebody()];
    for (const email of emails) await register(slug, { email });
    const [, second] = await listed(slug);
    await edit(second.registration_id, { status: 'canceled' });
    const all = async (query: string) => (await send(api, `/v1/events/admin/registrations${query}`, { headers: admin })).body;
    const emailsOf = async (query: string) => (await all(query)).map(({ email }: { email: string }) => email);
    expect(await emailsOf('?limit=2')).toEqual([emails[2], emails[1]]);
    expect(await emailsOf('?limit=1&offset=2')).toEqual([emails[0]]);
    expect(await emailsOf('?status=canceled&limit=1')).toEqual([emails[1]]);
    expect((await all('?status=gone')).errors[0].loc).toEqual(['query', 'status']);
    expect((await all('?limit=201')).errors[0].loc).toEqual(['query', 'limit']);
  });
});

describe('the Vibethon', () => {
  test('is there from the first boot, and stays readable when it is put away', async () => {
    const first = (await send(api, '/v1/events/vibethon')).body;
    expect(first).toMatchObject({
      slug: 'vibethon',
      status: 'published',
      capacity: 100,
      is_registration_open: true,
      requires_payment: false,
    });
    const { auth } = await signUp(api, 'admin');
    await world.pool.query("update site_events set status = 'archived' where slug = 'vibethon'");
    expect((await send(api, '/v1/events/vibethon', { headers: auth })).body).toMatchObject({
      status: 'archived',
      is_registration_open: false,
    });
    expect(await register('vibethon', { email: somebody() })).toMatchObject({ status: 409, body: { code: 'registration_closed' } });
    await world.pool.query("update site_events set status = 'published' where slug = 'vibethon'");
  });

  test('takes registrations under its own address', async () => {
    const email = somebody();
    expect(await register('vibethon', { email, name: 'Ada' })).toMatchObject({
      status: 201,
      body: { event_slug: 'vibethon', email, status: 'confirmed' },
    });
    expect(await status('vibethon', email)).toMatchObject({ event_slug: 'vibethon', status: 'confirmed' });
  });
});

describe('a participant who cannot come', () => {
  const cancel = (token: string) => send(api, '/v1/events/cancel-registration', { headers: somewhere(), json: { token } });
  const tokenFor = async (email: string) =>
    /cancel-registration\?token=([\w-]+)/.exec((await mailbox.to(email)).map(({ text }) => text).join('\n'))?.[1] ?? '';

  test('releases the place by the link in the mail to the first on the waitlist; both get a mail', async () => {
    const { slug } = await event({ capacity: 1 });
    const [first, second] = [somebody(), somebody()];
    for (const email of [first, second]) await register(slug, { email });
    const token = await tokenFor(first);
    const both = await Promise.all([cancel(token), cancel(token)]);
    expect(both.map(({ status: code, body }) => [code, body.status])).toEqual([
      [200, 'canceled'],
      [200, 'canceled'],
    ]);
    expect([await status(slug, first), await status(slug, second)]).toMatchObject([{ status: 'canceled' }, { status: 'confirmed' }]);
    const subjects = async (email: string) => (await mailbox.to(email)).map(({ subject }) => subject);
    expect(await subjects(first)).toEqual(['You have a place: Launch day', 'Your registration has ended: Launch day']);
    expect(await subjects(second)).toEqual(['You are on the waitlist: Launch day', 'You have a place: Launch day']);
  });

  test('cannot do so for others, by a link that was made up, nor once the event is over', async () => {
    const { slug, event_id } = await event();
    const email = somebody();
    await register(slug, { email });
    const token = await tokenFor(email);
    const forged = (token.startsWith('A') ? 'B' : 'A') + token.slice(1);
    for (const wrong of [forged, 'x', token.slice(0, -4)]) expect((await cancel(wrong)).body.code).toBe('invalid_token');
    await world.pool.query("update site_events set starts_at = '2020-01-01', ends_at = '2020-01-02' where event_id = $1", [event_id]);
    expect((await cancel(token)).body.code).toBe('conflict');
    expect(await status(slug, email)).toMatchObject({ status: 'confirmed' });
  });
});

test('a new time, a new place and a cancellation are mailed to all registered and waiting people', async () => {
  const { slug, event_id } = await event({ capacity: 1 });
  const [coming, waiting, gone] = [somebody(), somebody(), somebody()];
  for (const email of [coming, waiting, gone]) await register(slug, { email });
  const [, , third] = await listed(slug).then((all) =>
    [coming, waiting, gone].map((email) => all.find((one: { email: string }) => one.email === email)),
  );
  await edit(third.registration_id, { status: 'canceled' });
  await patchEvent(event_id, { title: 'Launch party' });
  await patchEvent(event_id, { venue_name: 'Halle 5', starts_at: '2099-03-05T19:00:00+01:00' });
  await act(event_id, 'archive');
  const told = async (email: string) =>
    (await mailbox.to(email)).filter(({ subject }) => /^(Changed|Called off)/.test(subject)).map(({ subject, text }) => [subject, text]);
  const both = [
    ['Changed: Launch party', expect.stringMatching(/Begins +5 March 2099, 19:00.*Halle 5/s)],
    ['Called off: Launch party', expect.stringContaining('does not take place')],
  ];
  expect([await told(coming), await told(waiting), await told(gone)]).toEqual([both, both, []]);
});

describe('a registration', () => {
  test('is one per address in any case, also when repeated, and reveals nothing of the person', async () => {
    const { slug } = await event();
    const email = somebody();
    const first = await register(slug, { email, name: 'Ada Lovelace', company: 'Engines' });
    const again = await register(slug, { email: email.toUpperCase(), name: 'Somebody else' });
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(first.text).not.toContain('Lovelace');
    expect(await listed(slug)).toMatchObject([{ email, registrant: { name: 'Ada Lovelace', company: 'Engines' } }]);
    const { rows } = await world.pool.query('select name, sources, event_slugs from people where email = $1', [email]);
    expect(rows).toEqual([{ name: 'Ada Lovelace', sources: ['registration'], event_slugs: [slug] }]);
    expect((await mailbox.to(email)).map(({ subject }) => subject)).toEqual(['You have a place: Launch day']);
  });

  test('is answered alike for who has an account and who has none; the latter gets a link to claim one', async () => {
    const { slug } = await event();
    const member = await signUp(api);
    const squatter = await signUp(api);
    await world.pool.query('update users set email_verified_at = now() where id = $1', [member.userId]);
    const stranger = somebody();
    await register(slug, { email: squatter.email });
    const answers = [await register(slug, { email: member.email }), await register(slug, { email: stranger, name: 'New Person' })];
    const shape = ({ status: code, body }: { status: number; body: object }) => [
      code,
      { ...body, registration_id: '', email: '', registered_at: '' },
    ];
    expect(shape(answers[0] ?? { status: 0, body: {} })).toEqual(shape(answers[1] ?? { status: 0, body: {} }));

    const login = (password: string) => send(api, '/v1/users/login', { headers: somewhere(), json: { email: stranger, password } });
    await events.linkUsers();
    await events.linkUsers();
    const users = (await listed(slug)).map(({ email, registrant }: { email: string; registrant: { user_id: string } }) => [
      email,
      registrant.user_id,
    ]);
    expect(Object.fromEntries(users)).toMatchObject({
      [member.email]: member.userId,
      [stranger]: expect.any(String),
      [squatter.email]: null,
    });
    expect((await mailbox.to(squatter.email)).filter(({ subject }) => subject.startsWith('Make the account'))).toHaveLength(1);
    expect((await login('!')).body.code).toBe('invalid_credentials');
    const letters = (await mailbox.to(stranger)).map(({ subject }) => subject);
    expect(letters.sort()).toEqual(['An account was made for you', 'You have a place: Launch day']);
    expect((await mailbox.to(member.email)).map(({ subject }) => subject)).not.toContain('An account was made for you');

    const token = await mailbox.tokenFor(stranger, 'reset-password');
    const password = 'a password of my own';
    expect((await send(api, '/v1/users/password-reset/confirm', { json: { token, new_password: password } })).status).toBe(204);
    expect((await login(password)).body).toMatchObject({ email: stranger, email_verified: true });
  });

  test('is looked up by its address, in one shape whether it is there or not', async () => {
    const { slug } = await event();
    const email = somebody();
    await register(slug, { email, name: 'Ada' });
    const known = await status(slug, email);
    const unknown = await status(slug, somebody());
    expect(known).toEqual({
      event_slug: slug,
      email,
      status: 'confirmed',
      waitlist_position: null,
      payment_status: 'not_required',
      pay_by: null,
    });
    expect(unknown).toMatchObject({ status: 'not_registered', payment_status: null });
    expect(Object.keys(unknown)).toEqual(Object.keys(known));
    const wrong = await send(api, `/v1/events/${slug}/registration-status?email=nobody`);
    expect(wrong).toMatchObject({ status: 422, body: { errors: [{ loc: ['query', 'email'] }] } });
  });

  test('is not taken for what is a draft, is over, or is not there', async () => {
    const over = await event({ registration_closes_at: '2027-01-01T00:00:00Z' });
    clock.stoppedAtMs = Date.UTC(2027, 0, 2);
    expect((await register(over.slug, { email: somebody() })).body.code).toBe('registration_closed');
    clock.stoppedAtMs = undefined;
    await act(over.event_id, 'archive');
    for (const slug of [over.slug, 'admin', 'nothing']) expect((await register(slug, { email: somebody() })).status).toBe(404);
  });

  test.each([
    ['no address', { name: 'Ada' }],
    ['what is no address', { email: 'ada' }],
    ['a password', { email: 'ada@example.com', password: 'seven grey herons at dawn' }],
    ['a role', { email: 'ada@example.com', role: 'admin' }],
    ['control characters', { email: 'ada@example.com', name: 'A\u0000da' }],
  ])('with %s is refused', async (_what, json) => {
    expect((await register('vibethon', json)).status).toBe(422);
  });

  test('by one caller again and again, and the look-up of many addresses, are slowed down', async () => {
    const { slug } = await event();
    const here = { 'x-forwarded-for': '198.51.100.7' };
    const email = somebody();
    // On a slow machine places would be free again before the last of them.
    clock.stoppedAtMs = clock.now();
    const tries = Array.from({ length: 25 }, () => send(api, `/v1/events/${slug}/register`, { headers: here, json: { email } }));
    expect((await Promise.all(tries)).filter(({ status: code }) => code === 429).length).toBe(5);
    const guesses = Array.from({ length: 125 }, (_none, n) =>
      send(api, `/v1/events/${slug}/registration-status?email=g${n}@example.com`, { headers: here }),
    );
    const refused = (await Promise.all(guesses)).filter(({ status: code }) => code === 429);
    expect(refused.length).toBe(5);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    clock.stoppedAtMs = undefined;
  });
});

describe('places', () => {
  test('500 at once for 100 places: 100 confirmed, 400 on the waitlist in order, no duplicates', async () => {
    const { slug, event_id } = await event({ capacity: 100 });
    const crowd = await events.siteEvents.published(slug);
    const origin = { ip: '192.0.2.10', userAgent: null, requestId: 'req_1' };
    // Everybody sends the form twice.
    const emails = Array.from({ length: 500 }, (_none, n) => `crowd-${n}@example.com`);
    const answers = await Promise.all([...emails, ...emails].map((email) => events.registrations.register(crowd, { email }, origin)));
    expect(new Set(answers.map(({ registration_id }) => registration_id)).size).toBe(500);

    const { rows } = await world.pool.query<{ email: string; status: string }>(
      'select email, status from event_registrations where event_id = $1 order by turn',
      [event_id],
    );
    expect(rows.length).toBe(500);
    expect(rows.map((row) => row.status)).toEqual([...Array(100).fill('confirmed'), ...Array(400).fill('waitlisted')]);
    const line: { email: string; waitlist_position: number }[] = (await listed(slug)).filter(
      (one: { status: string }) => one.status === 'waitlisted',
    );
    const inOrder = line.toSorted((a, b) => a.waitlist_position - b.waitlist_position);
    expect(inOrder.map(({ waitlist_position }) => waitlist_position)).toEqual(Array.from({ length: 400 }, (_none, n) => n + 1));
    expect(inOrder.map(({ email }) => email)).toEqual(rows.slice(100).map(({ email }) => email));
    expect(await status(slug, rows[100]?.email ?? '')).toMatchObject({ status: 'waitlisted', waitlist_position: 1 });
  });

  test('that become free go to the first on the waitlist, who gets a mail', async () => {
    const { slug } = await event({ capacity: 2 });
    const [first, second, third, fourth] = [somebody(), somebody(), somebody(), somebody()];
    for (const email of [first, second, third, fourth]) await register(slug, { email });
    expect(await status(slug, fourth)).toMatchObject({ status: 'waitlisted', waitlist_position: 2 });
    const of = async (email: string) => (await listed(slug)).find((one: { email: string }) => one.email === email);

    expect((await edit((await of(first)).registration_id, { status: 'canceled' })).body.status).toBe('canceled');
    expect([await status(slug, third), await status(slug, fourth)]).toMatchObject([{ status: 'confirmed' }, { waitlist_position: 1 }]);
    expect((await mailbox.to(third)).map(({ subject }) => subject)).toEqual([
      'You are on the waitlist: Launch day',
      'You have a place: Launch day',
    ]);
    // A repeated registration is last.
    expect((await register(slug, { email: first })).body).toMatchObject({ status: 'waitlisted', waitlist_position: 2 });
    expect((await mailbox.to(first)).map(({ subject }) => subject)).toEqual([
      'You have a place: Launch day',
      'Your registration has ended: Launch day',
      'You are on the waitlist: Launch day',
    ]);
  });

  test('asked for, edited, added and erased at two events at once are never too many', async () => {
    const { pool } = world;
    const people = await startInstance(world.database, `${pool.options.connectionString}`, {
      clock,
      endpoints: endpointsOf(
        contract.people,
        peopleRoutes({ pool, clock, isStaff: async () => true, records: personRecords(clock), closeUnclaimed }),
      ),
    });
    const erase = async (email: string) => {
      const { rows } = await pool.query<{ person_id: string }>('select person_id from people where email = $1', [email]);
      if (!rows[0]) return { status: 404 };
      return send(people, `/v1/marketing/people/${rows[0].person_id}/actions`, { headers: admin, json: { action: 'erase' } });
    };
    try {
      for (let round = 0; round < 4; round++) {
        const both = [await event({ capacity: 3 }), await event({ capacity: 3 })] as const;
        const emails = Array.from({ length: 8 }, somebody);
        const origin = { ip: '192.0.2.11', userAgent: null, requestId: 'req_1' };
        const crowds = await Promise.all(both.map(({ slug }) => events.siteEvents.published(slug)));
        const at = (n: number) => ({
          crowd: crowds[n % 2] ?? expect.fail(),
          email: emails[n % emails.length] ?? '',
          ...(both[n % 2] ?? both[0]),
        });
        const first = await Promise.all(
          [...Array(12).keys()].map((n) => events.registrations.register(at(n).crowd, { email: at(n >> 1).email }, origin)),
        );
        const asked = [...Array(48).keys()].map(async (n) => {
          const { crowd, email, event_id } = at(n);
          if (n % 6 === 5) return erase(at(n * 5).email);
          if (n % 6 === 4) return patchEvent(event_id, { capacity: 3 + (n % 4) });
          if (n % 6 >= 2) return edit(first[n % first.length]?.registration_id ?? '', { status: n % 6 === 2 ? 'canceled' : 'confirmed' });
          return events.registrations.register(crowd, { email }, origin).then(() => ({ status: 201 }));
        });
        for (const { status: said } of await Promise.all(asked)) expect([200, 201, 404, 409, 422]).toContain(said);
        const { rows } = await pool.query<{ many: bigint; capacity: number; emails: bigint }>(
          `select e.capacity, count(*) filter (where r.status = 'confirmed') as many, count(*) - count(distinct lower(r.email)) as emails
           from site_events e join event_registrations r using (event_id) where e.event_id = any($1) group by e.event_id, e.capacity`,
          [both.map(({ event_id }) => event_id)],
        );
        expect(rows).toHaveLength(2);
        for (const { many, capacity, emails: twice } of rows) expect([Number(many) <= capacity, twice]).toEqual([true, 0n]);
      }
    } finally {
      await people.close();
    }
  });

  test('that are added go to the waitlist at once, and places that are taken are not taken away', async () => {
    const { slug, event_id } = await event({ capacity: 1 });
    const emails = [somebody(), somebody(), somebody()];
    for (const email of emails) await register(slug, { email });
    expect((await patchEvent(event_id, { capacity: 2 })).body).toMatchObject({ places_left: 0, waitlist_length: 1 });
    expect(await status(slug, emails[1] ?? '')).toMatchObject({ status: 'confirmed' });
    expect(await patchEvent(event_id, { capacity: 1 })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await patchEvent(event_id, { capacity: null })).body).toMatchObject({ places_left: null, waitlist_length: 0 });
  });
});

describe('administrators', () => {
  test('note who came and what else is to be known, which is in the audit log without what it says', async () => {
    const { slug } = await event();
    await register(slug, { email: somebody(), name: 'Ada' });
    const [{ registration_id }] = await listed(slug);
    expect((await edit(registration_id, { note: 'Speaker', attended: true, name: 'Ada L.' })).body).toMatchObject({
      registrant: { note: 'Speaker', name: 'Ada L.', attended_at: expect.any(String) },
    });
    expect((await edit(registration_id, { attended: false })).body.registrant).toMatchObject({ attended_at: null, note: 'Speaker' });
    const { data } = (await send(api, '/v1/audit-log', { headers: admin })).body;
    const deeds = data.filter((entry: { target: { id: string } }) => entry.target.id === registration_id);
    expect(deeds.map(({ action, changes }: { action: string; changes: object }) => [action, changes])).toEqual([
      ['event_registration.updated', { attended_at: true }],
      ['event_registration.updated', { name: true, admin_note: true, attended_at: true }],
    ]);
  });

  test('confirm only where a place is free, and move no confirmed one to the waitlist', async () => {
    const { slug } = await event({ capacity: 1 });
    for (const email of [somebody(), somebody()]) await register(slug, { email });
    const [waiting, confirmed] = await listed(slug);
    expect(await edit(waiting.registration_id, { status: 'confirmed' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await edit(confirmed.registration_id, { status: 'waitlisted' })).toMatchObject({
      status: 409,
      body: { code: 'invalid_transition' },
    });
    await edit(waiting.registration_id, { status: 'canceled' });
    expect((await edit(waiting.registration_id, { status: 'waitlisted' })).body).toMatchObject({
      status: 'waitlisted',
      waitlist_position: 1,
    });
  });

  test('cannot write what the database has no room for', async () => {
    const id = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
    expect((await edit(id, { note: 'a\u0000b' })).status).toBe(422);
    const refund = await send(api, `/v1/events/admin/registrations/${id}/refund`, { headers: admin, json: { reason: 'a\u0000b' } });
    expect(refund.status).toBe(422);
    for (const path of ['%00', '%00.ics', '%00/registration-status?email=ada@example.com'])
      expect((await send(api, `/v1/events/${path}`)).status).toBe(422);
    expect((await register('%00', { email: somebody() })).status).toBe(422);
  });

  test('get a 404 for a registration that is not there', async () => {
    expect((await edit('019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77', { note: 'x' })).body.code).toBe('not_found');
  });
});

describe('the marketing workspace', () => {
  const marketing = async () => (await signUp(api, 'marketing')).auth;
  const at = (path: string, headers: Record<string, string>, method = 'GET', json?: object) =>
    send(api, `/v1/marketing/${path}`, { method, headers, ...(json && { json }) });

  test('sees events in every state with their figures, and who registered', async () => {
    const headers = await marketing();
    const { slug } = await event({ capacity: 1 });
    for (const email of [somebody(), somebody()]) await register(slug, { email, name: 'Ada', message: 'I bring a robot.' });
    expect((await at(`events/${slug}`, headers)).body).toMatchObject({
      ...{ slug, status: 'published', places_left: 0, waitlist_length: 1 },
      registrations: { confirmed: 1, awaiting_payment: 0, waitlisted: 1, canceled: 0, attended: 0, received_usd: '0' },
    });
    const { data, has_more, next_cursor } = (await at(`events/${slug}/registrations?limit=1`, headers)).body;
    expect([has_more, data]).toMatchObject([
      true,
      [{ event_slug: slug, name: 'Ada', message: 'I bring a robot.', status: 'waitlisted', waitlist_position: 1 }],
    ]);
    const rest = (await at(`events/${slug}/registrations?limit=1&cursor=${next_cursor}`, headers)).body;
    expect(rest).toMatchObject({ data: [{ status: 'confirmed', waitlist_position: null }], has_more: false });
    const path = `event-registrations/${data[0].registration_id}`;
    expect((await at(path, headers, 'PATCH', { note: 'Robots!' })).body).toMatchObject({ note: 'Robots!', event_title: 'Launch day' });
    const all = (await at('events?limit=200', headers)).body;
    expect(all.data.map((one: { slug: string }) => one.slug)).toContain(slug);
    for (const gone of ['events/nothing', 'events/nothing/registrations']) expect((await at(gone, headers)).body.code).toBe('not_found');
  });

  test('publishes an event and takes it back; places that fall free meanwhile are given when it is public again', async () => {
    const headers = await marketing();
    const { slug } = await event({ capacity: 1 });
    const [first, second] = [somebody(), somebody()];
    for (const email of [first, second]) await register(slug, { email });
    expect((await at(`events/${slug}/unpublish`, headers, 'POST')).body.status).toBe('draft');
    expect((await at(`events/${slug}/unpublish`, headers, 'POST')).body.code).toBe('invalid_transition');
    expect((await send(api, `/v1/events/${slug}`)).status).toBe(404);
    const { data } = (await at(`events/${slug}/registrations`, headers)).body;
    const { registration_id } = data.find((one: { email: string }) => one.email === first);
    await at(`event-registrations/${registration_id}`, headers, 'PATCH', { status: 'canceled' });
    expect((await at(`events/${slug}`, headers)).body).toMatchObject({ waitlist_length: 1, places_left: 1 });
    expect((await at(`events/${slug}/publish`, headers, 'POST')).body).toMatchObject({ status: 'published', waitlist_length: 0 });
    expect(await status(slug, second)).toMatchObject({ status: 'confirmed' });
  });
});
