import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { type ContactUpsert, forgetUser, suppressedAmong, upsertContact } from './index.ts';

const at = new Date('2026-11-21T08:00:00Z');
let end: () => Promise<void>;
let pool: ReturnType<typeof openPool>;
beforeAll(async () => {
  const database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 10 });
  end = async () => {
    await pool.end();
    await database.drop();
  };
});
afterAll(() => end());

const sight = (sighting: Partial<ContactUpsert> & { email: string }) => upsertContact(pool, { source: 'registration', at, ...sighting });
const people = async (email: string) => (await pool.query('select * from people where email = $1', [email])).rows;
const suppress = (email: string, reason: string) =>
  pool.query('insert into suppressed_addresses values (address_hash($1), $2, $3)', [email, reason, at]);

describe('a person', () => {
  test('is one for every spelling of an address, with all known data', async () => {
    await sight({ email: 'Ada@Example.com', name: 'Ada Lovelace', eventSlug: 'launch' });
    await sight({ email: ' ada@example.COM', source: 'client_request', name: 'A. L.', clientType: 'startup', company: 'Éngines' });
    await sight({ email: 'ada@example.com', eventSlug: 'vibethon', clientType: 'enterprise' });
    expect(await people('ada@example.com')).toEqual([
      expect.objectContaining({
        name: 'Ada Lovelace',
        company: 'Éngines',
        search_text: 'ada@example.com ada lovelace engines',
        status: 'new',
        sources: ['client_request', 'registration'],
        event_slugs: ['launch', 'vibethon'],
        client_type: 'enterprise',
      }),
    ]);
  });

  test('is one, also when upserted concurrently', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => sight({ email: 'many@example.com', eventSlug: `event-${i % 5}` })));
    const [person, ...others] = await people('many@example.com');
    expect(others).toEqual([]);
    expect(person.event_slugs).toEqual(['event-0', 'event-1', 'event-2', 'event-3', 'event-4']);
  });

  test('is one, also when merged into another one while their address is seen', async () => {
    for (const email of ['gone-by@example.com', 'stays@example.com']) await sight({ email });
    const ids = async (email: string) => (await people(email)).map(({ person_id }) => person_id);
    const [[gone], [kept]] = [await ids('gone-by@example.com'), await ids('stays@example.com')];
    const merging = await pool.connect();
    await merging.query('begin');
    await merging.query("select merge_people($1, $2, $3, 'system', null)", [gone, kept, at]);
    const seen = sight({ email: 'gone-by@example.com', eventSlug: 'meanwhile' });
    await vi.waitFor(async () => {
      const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      expect((await pool.query(waiting)).rowCount).toBe(1);
    });
    await merging.query('commit');
    merging.release();
    await seen;
    expect(await people('gone-by@example.com')).toEqual([]);
    expect(await people('stays@example.com')).toMatchObject([{ event_slugs: ['meanwhile'], other_emails: ['gone-by@example.com'] }]);
  });

  test('that unsubscribed stays unsubscribed, from every source', async () => {
    await suppress('gone@example.com', 'unsubscribed');
    await sight({ email: 'gone@example.com' });
    expect((await people('gone@example.com'))[0].unsubscribed_at).toEqual(at);
  });

  test('that was erased is not created again', async () => {
    await suppress('erased@example.com', 'erased');
    await sight({ email: 'Erased@example.com', userId: newId() });
    expect(await people('erased@example.com')).toEqual([]);
  });
});

describe('a user', () => {
  test('who changes the address stays the same person, merged with the one of the new address', async () => {
    const userId = newId();
    await sight({ email: 'old@example.com', source: 'user', userId, planTier: 'pro' });
    await sight({ email: 'fresh@example.com', eventSlug: 'launch' });
    await sight({ email: 'fresh@example.com', source: 'user', userId });
    expect(await people('old@example.com')).toEqual([]);
    expect(await people('fresh@example.com')).toEqual([
      expect.objectContaining({ user_id: userId, plan_tier: 'pro', event_slugs: ['launch'], other_emails: ['old@example.com'] }),
    ]);
    await sight({ email: 'old@example.com', eventSlug: 'second' });
    expect((await people('fresh@example.com'))[0].event_slugs).toEqual(['launch', 'second']);
  });

  test('who takes an address that another user gave up is a separate person', async () => {
    const [first, second] = [newId(), newId()];
    await sight({ email: 'a@example.com', source: 'user', userId: first });
    await sight({ email: 'b@example.com', source: 'user', userId: first });
    await sight({ email: 'a@example.com', source: 'user', userId: second });
    expect((await people('a@example.com'))[0].user_id).toBe(second);
    expect((await people('b@example.com'))[0]).toMatchObject({ user_id: first, other_emails: [] });
  });

  test('who closes the account is erased, unless another source has them', async () => {
    const [only, also] = [newId(), newId()];
    await sight({ email: 'only@example.com', source: 'user', userId: only });
    await sight({ email: 'also@example.com', source: 'user', userId: also, planTier: 'pro' });
    await sight({ email: 'also@example.com' });
    await forgetUser(pool, only, at);
    await forgetUser(pool, also, at);
    expect(await people('only@example.com')).toEqual([]);
    expect(await people('also@example.com')).toEqual([
      expect.objectContaining({ user_id: null, plan_tier: null, sources: ['registration'] }),
    ]);
  });
});

describe('a person who has unsubscribed', () => {
  const merge = (gone: string, kept: string) =>
    pool.query('select merge_people(a.person_id, b.person_id, $1, $2, null) from people a, people b where a.email = $3 and b.email = $4', [
      ...[at, 'system', gone, kept],
    ]);
  const leave = (email: string) => pool.query('update people set unsubscribed_at = $2 where email = $1', [email, at]);

  test('is unsubscribed with every address of a merge, in both directions', async () => {
    for (const email of ['quit-a@example.com', 'stay-b@example.com', 'quit-c@example.com', 'stay-d@example.com']) await sight({ email });
    await leave('quit-a@example.com');
    await merge('quit-a@example.com', 'stay-b@example.com');
    await leave('quit-c@example.com');
    await merge('stay-d@example.com', 'quit-c@example.com');
    const all = ['quit-a@example.com', 'stay-b@example.com', 'quit-c@example.com', 'stay-d@example.com'];
    expect([...(await suppressedAmong(pool, all))].sort()).toEqual(all.toSorted());
  });

  test('is unsubscribed with the address that they change to', async () => {
    const userId = newId();
    await sight({ email: 'first-home@example.com', source: 'user', userId });
    await leave('first-home@example.com');
    await sight({ email: 'second-home@example.com', source: 'user', userId });
    expect([...(await suppressedAmong(pool, ['second-home@example.com']))]).toEqual(['second-home@example.com']);
  });
});

test('a bounce counts for the address, not for its successor', async () => {
  const userId = newId();
  await sight({ email: 'full@example.com', source: 'user', userId });
  await suppress('full@example.com', 'bounced');
  await pool.query('update people set bounced_at = $2 where email = $1', ['full@example.com', at]);
  await sight({ email: 'roomy@example.com', source: 'user', userId });
  expect((await people('roomy@example.com'))[0].bounced_at).toBeNull();
});
