import { contract } from '@tallygate/contract';
import ICAL from 'ical.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Instance, newKey, send, signUp } from './testing/account-api.ts';
import { type EventApi, startEventApi } from './testing/event-api.ts';

let world: EventApi;
let api: Instance;
let admin: Record<string, string>;
let member: Awaited<ReturnType<typeof signUp>>;
let marketing: Awaited<ReturnType<typeof signUp>>;

const ROUTES = [contract.siteEvents, contract.registrations, contract.eventCheckouts, contract.marketingEvents].flatMap((routes) =>
  Object.values(routes),
);
const ANY_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const clock = { now: () => Date.UTC(2026, 10, 21, 8) };

beforeAll(async () => {
  world = await startEventApi(() => clock);
  ({ api, admin } = world);
  member = await signUp(api);
  marketing = await signUp(api, 'marketing');
});
afterAll(async () => {
  await world?.close();
});

describe('a route', () => {
  const LET_IN: Readonly<Record<string, readonly string[]>> = { admin: ['admin'], marketing: ['marketing', 'admin'] };

  test.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s lets in the roles that its contract names, and nobody else',
    async (_name, { method, path, metadata }) => {
      const callers = { nobody: {}, member: member.auth, marketing: marketing.auth, admin };
      const outcomes = await Promise.all(
        Object.entries(callers).map(async ([caller, headers]) => {
          const { body } = await send(api, path.replaceAll(/:[a-z_]+/g, ANY_ID), {
            method,
            headers,
            ...(method !== 'GET' && { json: {} }),
          });
          return [caller, { missing_credentials: 'who?', forbidden: 'no' }[String(body?.code)] ?? 'let in'];
        }),
      );
      const role = 'role' in metadata ? metadata.role : undefined;
      const isLetIn = (caller: string) => role === undefined || LET_IN[role]?.includes(caller);
      const wanted = Object.keys(callers).map((caller) => [
        caller,
        metadata.auth === 'none' ? 'let in' : caller === 'nobody' ? 'who?' : isLetIn(caller) ? 'let in' : 'no',
      ]);
      expect(outcomes).toEqual(wanted);
    },
  );
});

let serial = 0;
const draft = (over: object = {}) => ({
  slug: `launch-day-${++serial}`,
  title: 'Launch day',
  starts_at: '2027-03-05T18:00:00+01:00',
  ends_at: '2027-03-05T22:00:00+01:00',
  time_zone: 'Europe/Berlin',
  ...over,
});
const create = async (over: object = {}) => {
  const { status, body } = await send(api, '/v1/events/admin', { headers: admin, json: draft(over) });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
};
const act = (eventId: string, step: 'publish' | 'archive') =>
  send(api, `/v1/events/admin/${eventId}/${step}`, { method: 'POST', headers: admin });
const patch = (eventId: string, json: object) => send(api, `/v1/events/admin/${eventId}`, { method: 'PATCH', headers: admin, json });
const published = async (over: object = {}) => (await act((await create(over)).event_id, 'publish')).body;
const get = (path: string, headers: Record<string, string> = {}) => send(api, path, { headers });
const raw = (path: string) => fetch(`${api.baseUrl}${path}`);

describe('an event', () => {
  test('is not public before it is published, nor once it is archived', async () => {
    const made = await create();
    expect(made).toMatchObject({
      status: 'draft',
      starts_at: '2027-03-05T17:00:00.000Z',
      price_usd: '0',
      capacity: null,
      places_left: null,
    });
    expect((await get(`/v1/events/${made.slug}`)).status).toBe(404);
    expect((await act(made.event_id, 'publish')).body).toMatchObject({ status: 'published', published_at: '2026-11-21T08:00:00.000Z' });
    expect((await get(`/v1/events/${made.slug}`)).body).toMatchObject({ slug: made.slug, is_registration_open: true });
    expect((await act(made.event_id, 'archive')).body.status).toBe('archived');
    expect((await get(`/v1/events/${made.slug}`)).status).toBe(404);
    expect((await raw(`/v1/events/${made.slug}.ics`)).status).toBe(404);
  });

  test('is archived permanently as a draft, without having been public', async () => {
    const { event_id, slug } = await create();
    const { status, body } = await act(event_id, 'archive');
    expect([status, body.status, body.published_at, typeof body.archived_at]).toEqual([200, 'archived', null, 'string']);
    expect((await get(`/v1/events/${slug}`)).status).toBe(404);
    expect((await patch(event_id, { title: 'Another title' })).body.code).toBe('invalid_transition');
  });

  test.each<[string, ('publish' | 'archive')[], 'publish' | 'archive']>([
    ['published twice', ['publish'], 'publish'],
    ['published once it is archived', ['archive'], 'publish'],
    ['archived twice', ['archive'], 'archive'],
  ])('is not %s', async (_what, before, step) => {
    const { event_id } = await create();
    for (const earlier of before) await act(event_id, earlier);
    expect(await act(event_id, step)).toMatchObject({ status: 409, body: { code: 'invalid_transition' } });
  });

  test('has a unique slug, which can be changed until it is published', async () => {
    const taken = await create();
    const other = await create();
    expect((await send(api, '/v1/events/admin', { headers: admin, json: draft({ slug: taken.slug }) })).body.code).toBe('slug_taken');
    expect((await patch(other.event_id, { slug: taken.slug })).body.code).toBe('slug_taken');
    expect((await patch(other.event_id, { slug: `renamed-${serial}` })).body.slug).toBe(`renamed-${serial}`);
    await act(other.event_id, 'publish');
    expect(await patch(other.event_id, { slug: `again-${serial}` })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    for (const slug of ['admin', 'vibethon'])
      expect((await send(api, '/v1/events/admin', { headers: admin, json: draft({ slug }) })).body.code).toBe('slug_taken');
  });

  test('keeps what an update leaves out, and refuses an order of times that cannot be', async () => {
    const made = await create({ summary: 'An evening.' });
    expect((await patch(made.event_id, { title: 'Launch night', capacity: 20 })).body).toMatchObject({
      title: 'Launch night',
      summary: 'An evening.',
      places_left: 20,
    });
    for (const wrong of [{ ends_at: '2027-03-05T17:00:00Z' }, { registration_closes_at: '2027-03-06T00:00:00Z' }])
      expect(await patch(made.event_id, wrong)).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    await act(made.event_id, 'archive');
    expect((await patch(made.event_id, { title: 'Too late' })).body.code).toBe('invalid_transition');
  });

  test.each([
    ['an unknown time zone', { time_zone: 'Europe/Atlantis' }],
    ['an offset for a time zone', { time_zone: '+01:00' }],
    ['a field that is not known', { colour: 'red' }],
    ['a slug with capitals', { slug: 'Launch' }],
    ['half a cent', { price_usd: '0.005' }],
    ['no places at all', { capacity: 0 }],
    ['a date without a time', { starts_at: '2027-03-05' }],
    ['an address that browsers run', { image_url: 'javascript:alert(1)' }],
  ])('with %s is refused', async (_what, wrong) => {
    expect((await send(api, '/v1/events/admin', { headers: admin, json: draft(wrong) })).status).toBe(422);
  });

  test('that does not exist is a 404 for every operation', async () => {
    const id = ANY_ID;
    for (const got of [
      await patch(id, { title: 'x' }),
      await act(id, 'publish'),
      await act(id, 'archive'),
      await get('/v1/events/nothing'),
    ])
      expect(got).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await patch('no-uuid', { title: 'x' })).status).toBe(422);
  });

  test('leaves a trail of who changed what', async () => {
    const { event_id } = await create();
    await patch(event_id, { title: 'Second' });
    await act(event_id, 'publish');
    const { data } = (await send(api, '/v1/audit-log', { headers: admin })).body;
    const deeds = data.filter((entry: { target: { id: string } }) => entry.target.id === event_id);
    expect(deeds.map(({ action, changes }: { action: string; changes: object }) => [action, changes])).toEqual([
      ['event.published', { status: { from: 'draft', to: 'published' } }],
      ['event.updated', { title: { from: 'Launch day', to: 'Second' } }],
      ['event.created', expect.anything()],
    ]);
  });
});

describe('the public list', () => {
  test('has what is published, the next event first; administrators see all', async () => {
    const later = await published({ starts_at: '2028-01-02T10:00:00Z', ends_at: '2028-01-02T11:00:00Z' });
    const sooner = await published({ starts_at: '2028-01-01T10:00:00Z', ends_at: '2028-01-01T11:00:00Z' });
    const hidden = await create();
    const slugs = (await get('/v1/events')).body.map(({ slug }: { slug: string }) => slug);
    expect(slugs.slice(-2)).toEqual([sooner.slug, later.slug]);
    expect(slugs).not.toContain(hidden.slug);
    const all = (await get('/v1/events/admin', admin)).body.map(({ slug }: { slug: string }) => slug);
    expect(all).toContain(hidden.slug);
  });

  test('of administrators is refused to members and to keys of members', async () => {
    const key = await newKey(api, member.auth, { scopes: ['account:read', 'account:write'] });
    expect((await get('/v1/events/admin', member.auth)).body.code).toBe('forbidden');
    expect((await get('/v1/events/admin', key.auth)).body.code).toBe('scope_required');
  });

  test.each(['/v1/events', '/v1/events/vibethon', '/v1/events/vibethon.ics', '/v1/events/vibethon.jsonld'])(
    '%s is asked for again with its ETag, and not sent again',
    async (path) => {
      const first = await raw(path);
      expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=30']);
      const etag = first.headers.get('etag') ?? '';
      const again = await fetch(`${api.baseUrl}${path}`, { headers: { 'if-none-match': `"other", W/${etag}` } });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
      const other = await fetch(`${api.baseUrl}${path}`, { headers: { 'if-none-match': '"other"' } });
      expect(other.status).toBe(200);
    },
  );
});

describe('a published event', () => {
  test.each(['application/ld+json', 'application/ld+json; profile="http://www.w3.org/ns/json-ld#flattened", application/json;q=0.5'])(
    'is JSON-LD for whoever accepts %s',
    async (accept) => {
      const { slug } = await published({});
      for (const path of [`/v1/events/${slug}`, '/v1/events/vibethon']) {
        const response = await fetch(`${api.baseUrl}${path}`, { headers: { accept } });
        expect([response.status, response.headers.get('vary')]).toEqual([200, 'Accept']);
        expect(response.headers.get('content-type')).toMatch(/^application\/ld\+json/);
        expect(await response.json()).toEqual(await (await raw(`${path}.jsonld`)).json());
      }
    },
  );

  test('is a calendar entry for clients that accept text/calendar', async () => {
    const { slug } = await published({});
    const response = await fetch(`${api.baseUrl}/v1/events/${slug}`, { headers: { accept: 'text/calendar' } });
    expect([response.headers.get('content-type'), response.headers.get('vary')]).toEqual(['text/calendar; charset=utf-8', 'Accept']);
    expect(await response.text()).toBe(await (await raw(`/v1/events/${slug}.ics`)).text());
  });

  test.each(['*/*', 'application/json', 'text/html'])(
    'is JSON for whoever accepts %s, and says that it is not so for all',
    async (accept) => {
      const { slug } = await published({});
      const response = await fetch(`${api.baseUrl}/v1/events/${slug}`, { headers: { accept } });
      expect([response.headers.get('vary'), (await response.json()).slug]).toEqual(['Accept', slug]);
    },
  );

  const title = 'Größe; Ruhm, \\ und ein Titel, der so lang ist, dass er in keine Zeile eines Kalenders passt: 🎉🎉🎉🎉';

  test('is iCalendar that another parser reads', async () => {
    const { slug, event_id } = await published({ title, description: 'Doors open at six.\nBring a laptop.', venue_name: 'Halle 4' });
    const response = await raw(`/v1/events/${slug}.ics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/calendar/);
    const text = await response.text();
    expect(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75 && !line.includes('\n'))).toBe(true);
    const event = new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent') ?? undefined);
    expect(event).toMatchObject({
      uid: `${event_id}@tallygate`,
      summary: title,
      description: 'Doors open at six.\nBring a laptop.',
      location: 'Halle 4',
    });
    expect([event.startDate.toJSDate().toISOString(), event.endDate.toJSDate().toISOString()]).toEqual([
      '2027-03-05T17:00:00.000Z',
      '2027-03-05T21:00:00.000Z',
    ]);
  });

  test('is an Event of schema.org, in the time of its place', async () => {
    const { slug } = await published({
      title,
      venue_name: 'Halle 4',
      venue_address: 'Torstraße 1',
      online_url: 'https://meet.example/x',
      price_usd: '49.50',
    });
    const response = await raw(`/v1/events/${slug}.jsonld`);
    expect(response.headers.get('content-type')).toMatch(/^application\/ld\+json/);
    expect(await response.json()).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'Event',
      '@id': `https://gateway.example/events/${slug}`,
      name: title,
      startDate: '2027-03-05T18:00:00+01:00',
      eventAttendanceMode: 'https://schema.org/MixedEventAttendanceMode',
      location: [{ '@type': 'Place', name: 'Halle 4', address: 'Torstraße 1' }, { '@type': 'VirtualLocation' }],
      offers: { price: '49.5', priceCurrency: 'USD', availability: 'https://schema.org/InStock' },
    });
  });
});
