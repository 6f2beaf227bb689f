import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { mistyped } from '../../kernel/testing/mistyped.ts';
import { eventPageRoutes } from './event-pages.ts';
import { createPeerAddress } from './peer-address.ts';
import { send, signUp } from './testing/account-api.ts';
import { type EventApi, startEventApi } from './testing/event-api.ts';
import { type FrontUnderTest, openFrontUnderTest } from './testing/front.ts';

let world: EventApi;
let front: FrontUnderTest;
let pagesUrl: string;
let aheadMs = 0;

beforeAll(async () => {
  world = await startEventApi((stripe) => ({ now: () => stripe.now() + aheadMs }));
  const clock = { now: () => world.stripe.now() + aheadMs };
  front = await openFrontUnderTest(
    () =>
      eventPageRoutes({
        ...{ events: world.events, clock, log: silentLog(), peerAddress: createPeerAddress(['127.0.0.1']) },
        pageOf: (slug) => `https://gateway.example/events/${slug}`,
      }),
    { clock },
  );
  pagesUrl = front.url;
});
afterAll(async () => {
  front?.close();
  await world?.close();
});

let serial = 0;
async function event(over: object = {}): Promise<string> {
  const times = { starts_at: '2099-03-05T18:00:00+01:00', ends_at: '2099-03-05T22:00:00+01:00', time_zone: 'Europe/Berlin' };
  const json = { slug: `page-${++serial}`, title: 'Launch day', ...times, ...over };
  const { body } = await send(world.api, '/v1/events/admin', { headers: world.admin, json });
  await send(world.api, `/v1/events/admin/${body.event_id}/publish`, { method: 'POST', headers: world.admin });
  return body.slug;
}
async function open(path: string, form?: Record<string, string>) {
  const response = await fetch(path.startsWith('http') ? path : pagesUrl + path, {
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    headers: { 'x-forwarded-for': `203.0.113.${++serial % 250}` },
  });
  return { status: response.status, headers: response.headers, html: await response.text() };
}
const payLinkTo = async (email: string): Promise<string> => {
  const texts = (await world.mailbox.to(email)).map(
    ({ text }) => /https:\/\/gateway\.example(\/events\/\S+\/pay\?token=\S+)/.exec(text)?.[1],
  );
  return texts.findLast((link) => link !== undefined) ?? '';
};

describe('the page of an event', () => {
  test('has an unticked box for news, and keeps a tick', async () => {
    const slug = await event();
    expect((await open(`/events/${slug}`)).html).toMatch(/<input type="checkbox" name="news">/);
    await open(`/events/${slug}`, { email: 'page-ticked@example.com', news: 'on' });
    await open(`/events/${slug}`, { email: 'page-unticked@example.com' });
    const { rows } = await world.pool.query('select email, consent_source from people where email like $1 order by email', [
      'page-%ticked@%',
    ]);
    expect(rows).toEqual([
      { email: 'page-ticked@example.com', consent_source: 'registration' },
      { email: 'page-unticked@example.com', consent_source: null },
    ]);
  });

  test('shows the event in its own time zone, without scripts or external resources', async () => {
    const title = 'Fire & <b>ice</b></script><script>alert(1)</script>';
    const slug = await event({ title, capacity: 2, price_usd: '49', venue_name: '"Halle" 4', description: 'Doors\nopen <at> six.' });
    const { status, headers, html } = await open(`/events/${slug}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; base-uri 'none'; form-action 'self';(?!.*script-src)/);
    for (const part of ['5 March 2099', '18:00', '22:00 CET', '$49', '2 are left', '&quot;Halle&quot; 4', 'open &lt;at&gt; six.'])
      expect(html).toContain(part);
    expect(html).toContain('<h1>Fire &amp; &lt;b&gt;ice&lt;/b&gt;&lt;/script&gt;');
    expect(html.match(/<script/g)).toHaveLength(1);
    const [, data = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(html) ?? [];
    expect(JSON.parse(data)).toMatchObject({ name: title, url: `https://gateway.example/events/${slug}` });
    const answer = await send(world.api, `/v1/events/${slug}.jsonld`);
    expect([answer.text.includes('<'), answer.body.name, answer.body.url]).toEqual([
      false,
      title,
      `https://gateway.example/events/${slug}`,
    ]);
  });

  test('is answered for a draft, an unknown one and a strange address as though there were none', async () => {
    const draft = 'never-published';
    const times = { starts_at: '2099-03-05T18:00:00Z', ends_at: '2099-03-05T22:00:00Z', time_zone: 'UTC' };
    await send(world.api, '/v1/events/admin', { headers: world.admin, json: { slug: draft, title: 'Draft', ...times } });
    const [one, other] = [await open(`/events/${draft}`), await open('/events/nothing-at-all')];
    expect([one.status, one.html]).toEqual([404, other.html]);
    expect((await open('/events/Not_A_Slug')).status).toBe(404);
    expect((await open('/events/vibethon')).status).toBe(200);
  });

  test('accepts registrations by a plain form, with the same answer to a second one', async () => {
    const slug = await event({ capacity: 1 });
    const [ada, bob] = [`ada-${serial}@example.com`, `bob-${serial}@example.com`];
    const first = await open(`/events/${slug}`, { email: ` ${ada} `, name: '' });
    expect([first.status, first.html]).toEqual([200, expect.stringContaining('You have a place.')]);
    expect(first.html).not.toContain('<form');
    expect((await open(`/events/${slug}`, { email: ada, name: 'Ada' })).html).toContain('You have a place.');
    expect((await open(`/events/${slug}`)).html).toContain('Join the waitlist');
    expect((await open(`/events/${slug}`, { email: bob, name: 'Bob' })).html).toContain('number 1 on the waitlist');
    expect((await world.mailbox.to(ada)).map(({ subject }) => subject)).toEqual(['You have a place: Launch day']);
  });

  test('gives back a form that cannot be taken with what was typed, as text', async () => {
    const slug = await event();
    const { status, html } = await open(`/events/${slug}`, { email: '"><img src=x>', name: 'Ada' });
    expect(status).toBe(422);
    expect(html).toContain('role="alert"');
    expect(html).toContain('value="&quot;&gt;&lt;img src=x&gt;"');
    expect((await open(`/events/${slug}`, { email: 'a'.repeat(20_000) })).status).toBe(413);
    aheadMs = 80 * 366 * 86_400_000;
    try {
      const late = await open(`/events/${slug}`, { email: 'late@example.com' });
      expect([late.status, late.html]).toEqual([409, expect.stringContaining('takes no registrations')]);
    } finally {
      aheadMs = 0;
    }
  });
});

test('the public list begins with the next event, and what is over comes last', async () => {
  const over = (year: number) => ({ starts_at: `${year}-01-01T18:00:00Z`, ends_at: `${year}-01-01T22:00:00Z`, time_zone: 'UTC' });
  const [older, newer] = [await event(over(2020)), await event(over(2021))];
  const slugs = (await send(world.api, '/v1/events')).body.map(({ slug }: { slug: string }) => slug);
  expect(slugs[0]).toBe('vibethon');
  expect(slugs.slice(-2)).toEqual([newer, older]);
});

test('the Vibethon is not archived, since there would never be another one', async () => {
  const { event_id } = (await send(world.api, '/v1/events/vibethon')).body;
  const answer = await send(world.api, `/v1/events/admin/${event_id}/archive`, { method: 'POST', headers: world.admin });
  expect([answer.status, answer.body.code]).toEqual([409, 'invalid_transition']);
});

test('a time without an offset is refused with words that are true of what is taken', async () => {
  const json = { slug: 'no-offset', title: 'x', starts_at: '2027-03-05T18:00:00', ends_at: '2027-03-05T22:00:00+01:00', time_zone: 'UTC' };
  const { status, body } = await send(world.api, '/v1/events/admin', { headers: world.admin, json });
  expect([status, body.errors]).toMatchObject([422, [{ loc: ['body', 'starts_at'], msg: expect.stringContaining('+01:00') }]]);
});

describe('the link to pay in the mail of a held place', () => {
  test('leads to a page that asks first, and then to the provider’s, without a login; paid, it is of no use any more', async () => {
    const slug = await event({ price_usd: '49' });
    const email = `payer-${serial}@example.com`;
    await open(`/events/${slug}`, { email });
    const link = await payLinkTo(email);
    expect(decodeURIComponent(link)).not.toContain(email);
    const asked = await open(link);
    expect([asked.status, asked.html]).toEqual([200, expect.stringContaining('$49')]);
    const checkouts = async () => (await world.pool.query("select session_id from checkouts where kind = 'purchase'")).rows;
    const before = (await checkouts()).length;
    const onward = await open(link, {});
    expect(onward.status).toBe(200);
    expect(await checkouts()).toHaveLength(before + 1);
    expect((await open(link, {})).html).toBe(onward.html);
    const [, url = ''] = /<a href="([^"]+)">Pay for the place/.exec(onward.html) ?? [];
    world.stripe.pay(new URL(url).pathname.split('/').at(-1) ?? '');
    await world.plans.events.catchUp(0);
    const paid = await open(link);
    expect([paid.status, paid.html]).toEqual([404, expect.not.stringContaining(email)]);
    const { rows } = await world.pool.query('select status, payment_status from event_registrations where email = $1', [email]);
    expect(rows).toEqual([{ status: 'confirmed', payment_status: 'paid' }]);
  });

  test('ends with the hold, and neither a changed one nor that of another event opens anything', async () => {
    const [slug, other] = [await event({ price_usd: '49' }), await event({ price_usd: '49' })];
    const email = `held-${serial}@example.com`;
    await open(`/events/${slug}`, { email });
    const link = await payLinkTo(email);
    expect((await open(link)).status).toBe(200);
    for (const wrong of [mistyped(link), link.replace(slug, other), `/events/${slug}/pay`, `/events/${slug}/pay?token=v1.test.x`])
      for (const form of [undefined, {}]) expect((await open(wrong, form)).status).toBe(404);
    aheadMs = 25 * 3_600_000;
    try {
      expect((await open(link)).status).toBe(404);
      await world.events.releaseUnpaid();
      await open(`/events/${slug}`, { email });
      // After another registration it is a new place.
      expect((await open(link)).status).toBe(404);
      expect((await open(await payLinkTo(email))).status).toBe(200);
    } finally {
      aheadMs = 0;
    }
  });

  test('of an unconfirmed account’s address asks for confirmation, and opens no page for it', async () => {
    const squatter = await signUp(world.api);
    const slug = await event({ price_usd: '49' });
    await open(`/events/${slug}`, { email: squatter.email });
    const answer = await open(await payLinkTo(squatter.email), {});
    expect([answer.status, answer.html]).toEqual([409, expect.stringContaining('set a password')]);
    const { rows } = await world.pool.query('select 1 from checkouts where account_id = $1', [squatter.accountId]);
    expect(rows).toEqual([]);
  });
});
