import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { openPool } from '../../server/src/adapters/postgres/database.ts';
import { startEmbeddedPostgres } from '../../server/src/adapters/postgres/embedded-postgres.ts';
import { migrate } from '../../server/src/app/migrate.ts';
import { migrations } from '../../server/src/app/migrations/index.ts';
import { indexPeople } from '../../server/src/community/people/index.ts';
import { createLog } from '../../server/src/kernel/log.ts';
import { asked, OWNER, type Question, timesOf } from './people-question.ts';
import { sweep } from './people-sweep.ts';

const PEOPLE = 1_000_000;
const AT_ONCE = 100_000;
const ROUNDS = 7;
const SWEPT_ROUNDS = 3;
const LIMIT_MS = 50;

/** From what everybody is to what nobody is; `client_type` and the half a person was imported in go together, so that some combinations are empty. */
const QUESTIONS: readonly Question[] = [
  { filter: {} },
  { filter: {}, offset: 999_900 },
  { filter: { status: 'new' } },
  { filter: { status: 'new', source: 'import', plan_tier: 'free' }, offset: 50_000 },
  { filter: { status: 'lost', source: 'user', client_type: 'enterprise', plan_tier: 'scale', owner: OWNER } },
  { filter: { client_type: 'startup', source: 'registration' } },
  { filter: { event_slug: 'event-7', status: 'customer' } },
  { filter: { event_slug: 'event-7', client_type: 'startup', owner: 'none' } },
  { filter: { status: 'unsubscribed', plan_tier: 'pro' } },
  { filter: { consent: 'given', event_slug: 'event-7' } },
  { filter: { consent: 'none', status: 'customer', plan_tier: 'pro', q: 'ada' } },
  { filter: { consent: 'claimed', source: 'registration' }, offset: 5_000 },
  { filter: { q: 'a' } },
  { filter: { q: 'zq' } },
  { filter: { q: 'ada' } },
  { filter: { q: 'example.com' } },
  { filter: { q: 'example.com' }, offset: 10_000 },
  { filter: { q: 'ada lovelace', status: 'customer' } },
  { filter: { q: 'person-654321@' } },
  { filter: { q: 'nobody-is-called-this' } },
  { filter: { q: 'example.com', client_type: 'startup', source: 'registration', event_slug: 'event-7', owner: OWNER } },
  {
    filter: {
      q: 'mail',
      status: 'qualified',
      plan_tier: 'enterprise',
      source: 'user',
      client_type: 'individual',
      event_slug: 'event-3',
      owner: 'none',
    },
  },
];

/** @returns whether every question was answered within the limit */
export async function measurePeople(print: (text: string) => void): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-bench-people-'));
  const log = createLog('error');
  const postgres = await startEmbeddedPostgres({ dir: folder, log });
  const pool = openPool({ url: postgres.url, log, poolSize: 2 });
  try {
    await migrate(postgres.url, migrations);
    await fill(pool, print);
    const times = await ask(pool, print);
    const slowest = await sweep(pool, print, (question) => timesOf(pool, question, SWEPT_ROUNDS));
    await explain(pool, print);
    return [...times, slowest].every((ms) => ms <= LIMIT_MS);
  } finally {
    await pool.end();
    await postgres.stop();
    rmSync(folder, { recursive: true });
  }
}

async function fill(pool: pg.Pool, print: (text: string) => void): Promise<void> {
  const startedAt = performance.now();
  for (let from = 1; from <= PEOPLE; from += AT_ONCE) await pool.query(PEOPLE_SQL, [from, from + AT_ONCE - 1, OWNER]);
  await pool.query('vacuum analyze people');
  print(`${PEOPLE.toLocaleString('en')} people entered in ${seconds(startedAt)} s`);
  const indexedAt = performance.now();
  await indexPeople(pool);
  await pool.query('vacuum analyze people_chunks, people_unindexed');
  print(`and indexed in ${seconds(indexedAt)} s`);
  const { rows } = await pool.query(
    `select pg_size_pretty(pg_total_relation_size('people')) as people, pg_size_pretty(pg_total_relation_size('people_chunks')) as index`,
  );
  print(`on disk: people ${rows[0]?.people}, their index ${rows[0]?.index}\n`);
}

const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(0);

/** Names of different frequency; attributes of which some go together and some do not. */
const PEOPLE_SQL = `
insert into people (person_id, email, name, folded_name, company, folded_company, status, sources, event_slugs, tags, owner, client_type, plan_tier,
  unsubscribed_at, consent_source, consent_given_at, consent_confirmed_at, created_at, updated_at)
select gen_random_uuid(),
  'person-' || i || '@' || (array['example.com', 'mail.example', 'gmail.example', 'company-' || i % 20000 || '.example'])[1 + r % 4],
  name, lower(name), 'Company ' || i % 20000, 'company ' || i % 20000,
  (array['new', 'new', 'new', 'contacted', 'qualified', 'customer', 'lost'])[1 + r % 7],
  case when i <= 500000 then '{import}'::text[] else array[(array['user', 'registration', 'invite', 'client_request'])[1 + r / 7 % 4]] end,
  case when r % 5 = 0 then array['event-' || r % 50] else '{}' end,
  '{}', case when r % 10 = 0 then $3::uuid end,
  case when i <= 500000 then 'startup' else (array['enterprise', 'individual'])[1 + r / 3 % 2] end,
  (array['free', 'free', 'free', 'pro', 'scale', 'enterprise'])[1 + r / 11 % 6],
  case when r % 20 = 0 then now() end,
  case when r % 8 = 1 then 'registration' end, case when r % 8 = 1 then now() end, case when r % 16 = 1 then now() end, now(), now()
from (select i, abs(hashint4(i)) as r from generate_series($1::int, $2::int) as i) as numbers,
  lateral (select (array['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Zqwort'])[1 + case when r % 1000 = 0 then 6 else r / 13 % 6 end]
    || ' ' || (array['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Mailer'])[1 + r / 17 % 7] as name) as names`;

async function ask(pool: pg.Pool, print: (text: string) => void): Promise<number[]> {
  print(`${'filter'.padEnd(140)}     total    median ms   best ms`);
  const worst: number[] = [];
  for (const question of QUESTIONS) {
    const { times, median, total } = await timesOf(pool, question, ROUNDS);
    worst.push(median);
    print(
      `${asked(question).padEnd(140)}${total.padStart(10)}${median.toFixed(1).padStart(13)}${Math.min(...times)
        .toFixed(1)
        .padStart(11)}`,
    );
  }
  return worst;
}

async function explain(pool: pg.Pool, print: (text: string) => void): Promise<void> {
  const terms = ['consent:none', 'status:new', 'source:import', 'client:startup', 'plan:free', 'owner:none', 'event:event-7'];
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, buffers) select chunk, bit_count(bits) as count from (
       select chunk, bit_and(bits) as bits from people_chunks where term = any($1::text[])
       group by chunk having count(*) = cardinality($1::text[])) matched where bit_count(bits) > 0`,
    [terms],
  );
  print(`\nThe plan of seven filters at once (${terms.join(', ')}):\n${rows.map((row) => row['QUERY PLAN']).join('\n')}`);
}
