import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { expectTurns } from '../../kernel/testing/event-loop.ts';
import { suppress, upsertContact } from '../people/index.ts';
import { importPeople } from './import-people.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;
const before = new Date('2026-11-20T08:00:00Z');
const at = '2026-11-21T08:00:00.000Z';

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const row = (email: string, about: object = {}) => ({
  ...{ person_id: newId(), email, source: 'import', at, folded_name: '', folded_company: '', ...about },
});

/** What a transaction that is then undone comes to: its outcomes, everybody it knows, and what is in their histories. */
async function comesTo(run: (client: PoolClient) => Promise<{ outcome: string; people: bigint }[]>) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const outcomes: Record<string, number> = {};
    for (const { outcome, people } of await run(client)) if (people > 0n) outcomes[outcome] = (outcomes[outcome] ?? 0) + Number(people);
    const { rows: people } = await client.query(
      `select email, name, folded_name, company, folded_company, status, sources, event_slugs, tags, client_type, other_emails,
         unsubscribed_at, bounced_at, created_at, updated_at from people order by email`,
    );
    const { rows: history } = await client.query(
      `select p.email, h.action, h.actor_kind, h.actor_id, h.detail, h.at from person_history h join people p using (person_id)
       order by p.email, h.at, h.action, h.detail::text`,
    );
    return { outcomes, people, history };
  } finally {
    await client.query('rollback');
    client.release();
  }
}

test('an import in sets has the same result as its rows one by one', async () => {
  for (const email of ['plain', 'tagged', 'kept', 'merged'].map((name) => `${name}@example.com`))
    await upsertContact(pool, { email, source: 'registration', eventSlug: 'launch', at: before });
  await pool.query("update people set tags = '{beta}', name = 'Grace', folded_name = 'grace' where email = 'tagged@example.com'");
  await pool.query(
    `select merge_people((select person_id from people where email = 'merged@example.com'),
       (select person_id from people where email = 'kept@example.com'), $1, 'system', null)`,
    [before],
  );
  for (const reason of ['erased', 'unsubscribed', 'bounced'] as const)
    await suppress(pool, { emails: [`${reason}@example.com`], reason, at: before });
  const rows = [
    row('new@example.com', { name: 'Ada', folded_name: 'ada', tags: ['b', 'a'], event_slug: 'launch', client_type: 'startup' }),
    row('new@example.com', { company: 'Engines', folded_company: 'engines', tags: ['c'] }),
    row('bare@example.com'),
    row('plain@example.com', { name: 'José', folded_name: 'jose', event_slug: 'second', tags: ['beta'] }),
    row('tagged@example.com', { name: 'Other', folded_name: 'other', event_slug: 'launch', tags: ['beta'] }),
    row('merged@example.com', { company: 'Engines', folded_company: 'engines', tags: ['beta'] }),
    row('kept@example.com', { client_type: 'enterprise' }),
    ...['erased', 'unsubscribed', 'bounced'].map((name) => row(`${name}@example.com`, { tags: ['beta'] })),
  ];
  const inSets = await comesTo(
    async (client) => (await client.query("select * from import_people($1::jsonb, 'user', 'u')", [JSON.stringify(rows)])).rows,
  );
  const oneByOne = await comesTo(
    async (client) =>
      (
        await client.query(
          `select import_person(sighting, 'user', 'u') as outcome, 1::bigint as people
           from jsonb_array_elements($1::jsonb) with ordinality as s (sighting, place) order by sighting ->> 'email', place`,
          [JSON.stringify(rows)],
        )
      ).rows,
  );
  expect(inSets).toEqual(oneByOne);
  expect(inSets.outcomes).toEqual({ created: 4, updated: 5, skipped: 1 });
});

test('a person who is new is written once', async () => {
  const rows = Array.from({ length: 300 }, (_, n) => row(`crowd-${n}@example.com`, { name: 'Ada', tags: ['beta'], event_slug: 'launch' }));
  await pool.query('delete from people_unindexed');
  await pool.query("select * from import_people($1::jsonb, 'user', 'u')", [JSON.stringify(rows)]);
  expect((await pool.query('select count(*)::int as n from people_unindexed')).rows).toEqual([{ n: 300 }]);
});

/** As few pieces as a connection ever delivers. */
async function* piecesOf(text: string) {
  for (let from = 0; from < text.length; from += 64 * 1024) yield text.slice(from, from + 64 * 1024);
}

test.each([
  // One letter of these is folded into eighteen.
  ['rows at their limits', (at: number) => `a${at}@example.com,${'\ufdfa'.repeat(200)},${'é'.repeat(200)},${tagsOf(at)}`],
  ['rows that are refused', (at: number) => `no address ${at},${'n'.repeat(201)},${'c'.repeat(201)},"${'_;'.repeat(20)}"`],
])('an import of %s holds the event loop no longer than any request', async (what, rowOf) => {
  const file = `email,name,company,tags\r\n${Array.from({ length: 1_500 }, (_, at) => rowOf(at)).join('\r\n')}\r\n`;
  const accountId = newId();
  await pool.query("insert into accounts (id, name, created_at) values ($1, 'Ada', $2)", [accountId, before]);
  const key = { kind: 'key', keyId: newId(), scopes: new Set<never>(), livemode: true } as const;
  const principal = { ...key, accountId, userId: newId(), role: 'marketing' } as const;
  const caller = { principal, origin: { ip: null, userAgent: null, requestId: 'req_1' } };
  const deps = { pool, clock: { now: () => Date.parse(at) } };
  const result = await expectTurns(what, file.length, () => importPeople(deps, caller, piecesOf(file)));
  expect(result.rows).toBe(1_500);
});

const tagsOf = (at: number) => Array.from({ length: 20 }, (_, tag) => `${'t'.repeat(30)}-${(at + tag) % 50}`).join(';');
