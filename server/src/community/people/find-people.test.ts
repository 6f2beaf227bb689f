import type { PeopleFilter } from '@tallygate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { silentLog } from '../../kernel/log.ts';
import { type ContactUpsert, findPeople, indexPeople, upsertContact, walkPeople } from './index.ts';

const at = new Date('2026-11-21T08:00:00Z');
let end: () => Promise<void>;
let pool: ReturnType<typeof openPool>;
beforeAll(async () => {
  const database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  end = async () => {
    await pool.end();
    await database.drop();
  };
});
afterAll(() => end());
const nobody = () => pool.query('delete from people');

const sight = (sighting: Partial<ContactUpsert> & { email: string }) => upsertContact(pool, { source: 'registration', at, ...sighting });
const found = async (filter: PeopleFilter, page = { limit: 50, offset: 0 }) => {
  const { rows, total, isExact } = await findPeople(pool, filter, page);
  return { emails: rows.map(({ email }) => email), total, isExact };
};

const everybody = async () => {
  await sight({ email: 'ada@example.com', name: 'Ada Lovelace', company: 'Engines', eventSlug: 'launch', clientType: 'startup' });
  await sight({ email: 'grace@navy.example', name: 'Grace Hopper', source: 'user', planTier: 'pro' });
  await sight({ email: 'jose@example.com', name: 'José Zé', eventSlug: 'launch', planTier: 'free' });
  await pool.query("update people set tags = '{beta}', status = 'customer', unsubscribed_at = now() where email = 'grace@navy.example'");
};

describe.each([['as soon as they are there', false] as const, ['once they are indexed', true] as const])(
  'people are found %s',
  (_when, isIndexed) => {
    beforeAll(async () => {
      await nobody();
      await everybody();
      if (isIndexed) await indexPeople(pool);
    });

    test.each<[PeopleFilter, string[]]>([
      [{}, ['jose@example.com', 'grace@navy.example', 'ada@example.com']],
      [{ q: 'example.com' }, ['jose@example.com', 'ada@example.com']],
      [{ q: 'LOVE engin' }, ['ada@example.com']],
      [{ q: 'jose' }, ['jose@example.com']],
      [{ q: 'JOSÉ z' }, ['jose@example.com']],
      [{ q: 'ho' }, ['grace@navy.example']],
      [{ q: 'op' }, []],
      [{ q: '#beta' }, ['grace@navy.example']],
      [{ q: '100%_' }, []],
      [{ q: 'ada - engines' }, ['ada@example.com']],
      ...['#', '-', '@', '%_', '😀', '\u0301\u0301\u0301'].map((q): [PeopleFilter, string[]] => [{ q }, []]),
      [{ status: 'customer' }, ['grace@navy.example']],
      [{ status: 'unsubscribed' }, ['grace@navy.example']],
      [{ source: 'registration', event_slug: 'launch' }, ['jose@example.com', 'ada@example.com']],
      [{ source: 'registration', event_slug: 'launch', client_type: 'startup', q: 'ada' }, ['ada@example.com']],
      [{ owner: 'none', plan_tier: 'none' }, ['ada@example.com']],
      [{ plan_tier: 'pro', source: 'invite' }, []],
    ])('by %j', async (filter, emails) => {
      expect(await found(filter)).toEqual({ emails, total: emails.length, isExact: true });
      const walked: string[] = [];
      for await (const rows of walkPeople(pool, filter)) walked.push(...rows.map(({ email }) => email));
      expect(walked).toEqual(emails);
    });
  },
);

test('whose name has letters without a decomposition is found by both spellings', async () => {
  await nobody();
  await sight({ email: 'a@example.com', name: 'Søren Łukasz Großmann', company: 'Æther Đorđević' });
  await sight({ email: 'b@xn--bcher-kva.example', name: 'Soren' });
  for (const q of ['soren lukasz grossmann aether dordevic', 'SØREN ŁUKASZ GROẞMANN ÆTHER ĐORĐEVIĆ'])
    expect((await found({ q })).emails).toEqual(['a@example.com']);
  expect((await found({ q: 'søren' })).total).toBe(2);
  expect((await found({ q: 'b@Bücher.example' })).emails).toEqual(['b@xn--bcher-kva.example']);
});

test('whose name is longer than an index holds is found as everybody else is', async () => {
  await nobody();
  const name = 'ﷺ'.repeat(200);
  await sight({ email: 'long@example.com', name: `${name} Longname` });
  await sight({ email: 'short@example.com', name: 'Longname' });
  await indexPeople(pool);
  expect((await found({ q: 'longname' })).emails).toEqual(['short@example.com', 'long@example.com']);
  expect((await found({ q: 'longnames' })).emails).toEqual([]);
});

test('a change counts at once, also where the index still says otherwise', async () => {
  await nobody();
  await everybody();
  await indexPeople(pool);
  await pool.query("update people set status = 'lost' where email = 'ada@example.com'");
  await pool.query("delete from people where email = 'jose@example.com'");
  expect((await found({ status: 'lost' })).emails).toEqual(['ada@example.com']);
  expect(await found({ status: 'new' })).toMatchObject({ emails: [], total: 0 });
  expect((await found({})).total).toBe(2);
});

test('pages of any size list every match once, in one order', async () => {
  await nobody();
  await pool.query(
    `insert into people (person_id, email, sources, status, created_at, updated_at)
     select gen_random_uuid(), 'p' || i || '@example.com', '{import}', case when i % 3 = 0 then 'lost' else 'new' end, now(), now()
     from generate_series(1, 5000) as i`,
  );
  await indexPeople(pool);
  await pool.query("update people set status = 'lost' where email in ('p1@example.com', 'p4999@example.com')");
  const ordered = await pool.query<{ email: string }>("select email from people where status = 'lost' order by n desc");
  const wanted = ordered.rows.map(({ email }) => email);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 1_800 }), fc.boolean(), async (limit, offset, hasWord) => {
      const page = await found({ status: 'lost', ...(hasWord && { q: 'example.com' }) }, { limit, offset });
      expect(page).toMatchObject({ emails: wanted.slice(offset, offset + limit), total: wanted.length });
    }),
    { numRuns: 15 },
  );
});

test('where very many may match a word, the total is an estimate and marked as one', async () => {
  await nobody();
  await pool.query(
    `insert into people (person_id, email, sources, created_at, updated_at)
     select gen_random_uuid(), 'p' || i || '@example.com', '{import}', now(), now() from generate_series(1, 6000) as i`,
  );
  await indexPeople(pool);
  const { emails, total, isExact } = await found({ q: 'example.com' });
  expect([emails.length, total, isExact]).toEqual([50, 6000, false]);
});
