import { refusal } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const event = {
  ...{ event_id: ID, slug: 'launch-day', title: 'Launch day', summary: '', description: '', status: 'draft' },
  ...{ starts_at: '2027-03-05T17:00:00.000Z', ends_at: '2027-03-05T21:00:00.000Z', time_zone: 'Europe/Berlin' },
  ...{ venue_name: 'Halle 4', venue_address: null, online_url: null, image_url: null, capacity: 100, places_left: 42, waitlist_length: 0 },
  ...{ price_usd: '49', registration_closes_at: '2027-03-05T21:00:00.000Z', is_registration_open: true },
  ...{ published_at: null, archived_at: null, created_at: '2026-11-20T08:00:00.000Z', updated_at: '2026-11-20T08:00:00.000Z' },
};
const figures = { confirmed: 58, awaiting_payment: 0, waitlisted: 0, canceled: 0, attended: 0, received_usd: '0' };
const record = { ...event, registrations: figures };
const standing = { event_slug: 'launch-day', email: 'ada@example.com', status: 'waitlisted', waitlist_position: 7, payment_status: 'due' };
const registration = {
  ...{ ...standing, registration_id: ID, price_usd: '49', pay_by: null, registered_at: '2026-11-21T08:00:00.000Z', registrant: null },
};
const listed = {
  ...{
    ...standing,
    registration_id: ID,
    price_usd: '49',
    registered_at: '2026-11-21T08:00:00.000Z',
    updated_at: '2026-11-21T08:00:00.000Z',
  },
  ...{ event_title: 'Launch day', name: 'Ada', company: null, message: null, user_id: null, note: '' },
  ...{ confirmed_at: null, canceled_at: null, attended_at: null },
};
const paths = () => gateway.requests.map(({ method, path }) => `${method} ${path}`);

describe('events', () => {
  it('list and show ask without a credential, and with one for drafts', async () => {
    gateway.script({ json: [event] }, { json: [event] }, { json: record });
    const { stdout } = await terminal.type(['events', 'list'], {});
    expect(stdout).toBe('launch-day\tLaunch day\tdraft\t2027-03-05T17:00:00.000Z\t42\t0\t49\n');
    await terminal.type(['events', 'list', '--all']);
    expect((await terminal.type(['events', 'show', 'launch-day', '--all'])).stdout).toContain('Venue\tHalle 4\n');
    expect(paths()).toEqual(['GET /v1/events', 'GET /v1/events/admin', 'GET /v1/marketing/events/launch-day']);
  });

  it('create sends the named settings, with the description from a file', async () => {
    terminal.files.set('about.txt', 'Doors open at six.');
    gateway.script({ status: 201, json: event });
    const times = ['--starts', '2027-03-05T18:00:00+01:00', '--ends', '2027-03-05T22:00:00+01:00', '--time-zone', 'Europe/Berlin'];
    const settings = ['--places', '100', '--price', '49', '--online', 'none', '--description', 'about.txt'];
    const { stderr } = await terminal.type(['events', 'create', '--slug', 'launch-day', '--title', 'Launch day', ...times, ...settings]);
    expect(stderr).toBe('A draft: `tallygate events publish launch-day` publishes it.\n');
    expect(gateway.requests[0]?.body).toEqual({
      ...{ slug: 'launch-day', title: 'Launch day', description: 'Doors open at six.', capacity: 100, price_usd: '49', online_url: null },
      ...{ starts_at: '2027-03-05T18:00:00+01:00', ends_at: '2027-03-05T22:00:00+01:00', time_zone: 'Europe/Berlin' },
    });
    expect((await terminal.type(['events', 'create', '--slug', 'x'])).exitCode).toBe(2);
  });

  it('edit and archive find the event by its slug, and edit changes nothing where nothing is named', async () => {
    gateway.script({ json: record }, { json: event }, { json: record }, { json: event });
    await terminal.type(['events', 'edit', 'launch-day', '--places', 'any']);
    await terminal.type(['events', 'archive', 'launch-day']);
    expect(paths()).toEqual([
      'GET /v1/marketing/events/launch-day',
      `PATCH /v1/events/admin/${ID}`,
      'GET /v1/marketing/events/launch-day',
      `POST /v1/events/admin/${ID}/archive`,
    ]);
    expect(gateway.requests[1]?.body).toEqual({ capacity: null });
    expect((await terminal.type(['events', 'edit', 'launch-day'])).exitCode).toBe(2);
  });

  it('publish and unpublish print the error of the service for an invalid step', async () => {
    gateway.script({ json: record }, refusal('invalid_transition', { detail: 'The event is a draft.' }));
    await terminal.type(['events', 'publish', 'launch-day']);
    const { stderr, exitCode } = await terminal.type(['events', 'unpublish', 'launch-day']);
    expect(paths()).toEqual(['POST /v1/marketing/events/launch-day/publish', 'POST /v1/marketing/events/launch-day/unpublish']);
    expect([stderr, exitCode]).toEqual([expect.stringContaining('error: The event is a draft.'), 1]);
  });

  it('register and status need no login', async () => {
    gateway.script({ status: 201, json: registration }, { json: { ...standing, pay_by: null } });
    const { stdout } = await terminal.type(['events', 'register', 'launch-day', 'ada@example.com', '--name', 'Ada'], {});
    expect(stdout).toBe('Address\tada@example.com\nStatus\twaitlisted\nOn the waitlist\t7\nPayment\tdue\nPay by\t-\n');
    expect(gateway.requests[0]?.body).toEqual({ email: 'ada@example.com', name: 'Ada' });
    await terminal.type(['events', 'status', 'launch-day', 'ada@example.com'], {});
    expect(gateway.requests[1]?.query).toEqual({ email: 'ada@example.com' });
  });

  it('cancel takes the link of a mail, or its token', async () => {
    gateway.script({ json: registration }, { json: registration });
    for (const link of ['https://gateway.example/cancel-registration?token=abc-1', 'abc-1'])
      expect((await terminal.type(['events', 'cancel', link], {})).exitCode).toBe(0);
    expect(gateway.requests.map(({ body }) => body)).toEqual([{ token: 'abc-1' }, { token: 'abc-1' }]);
  });

  it('checkout opens the page for the named address, and reports that there is nothing to pay', async () => {
    const checkout = { registration_id: ID, event_slug: 'launch-day', amount_usd: '49', expires_at: null };
    gateway.script(
      { json: { ...checkout, status: 'open', checkout_id: ID, checkout_url: 'https://pay.example/1' } },
      { json: { ...checkout, status: 'not_required', checkout_id: null, checkout_url: null } },
    );
    const shown = await terminal.type(['events', 'checkout', 'launch-day', '--email', 'ada@example.com', '--no-browser', '--no-wait']);
    expect(shown.stderr).toBe('Pay here: https://pay.example/1\n');
    expect(gateway.requests[0]?.headers['x-event-email']).toBe('ada@example.com');
    expect((await terminal.type(['events', 'checkout', 'launch-day'])).stderr).toBe('There is nothing to pay: the place is confirmed.\n');
  });

  it('registrations are listed, changed and refunded', async () => {
    gateway.script({ json: { data: [listed], has_more: false, next_cursor: null } }, { json: listed }, { json: registration });
    const { stdout } = await terminal.type(['events', 'registrations', 'launch-day']);
    expect(stdout).toBe(`${ID}\tada@example.com\tAda\twaitlisted\t7\tdue\t2026-11-21T08:00:00.000Z\n`);
    await terminal.type(['events', 'registration', ID, '--status', 'canceled', '--no-attended']);
    await terminal.type(['events', 'refund', ID, '--reason', 'Cannot come']);
    expect(gateway.requests.slice(1).map(({ path, body }) => [path, body])).toEqual([
      [`/v1/marketing/event-registrations/${ID}`, { status: 'canceled', attended: false }],
      [`/v1/events/admin/registrations/${ID}/refund`, { reason: 'Cannot come' }],
    ]);
    expect((await terminal.type(['events', 'registration', ID])).exitCode).toBe(2);
  });
});
