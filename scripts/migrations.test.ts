import { expect, test } from 'vitest';
import { migrations } from '../server/src/app/migrations/index.ts';
import { longLocks } from './architecture/migration-locks.ts';

/** They have rows for each request, response, mail or posting, and grow without a limit. */
const LARGE = new Set([
  ...['usage_records', 'receipts', 'postings', 'ledger_entries', 'usage_run_history', 'corrections', 'refunds'],
  ...['receipt_log', 'receipt_log_tiles', 'audit_log', 'batch_lines', 'mails', 'email_recipients', 'person_history'],
  ...['stored_responses', 'stored_response_items', 'stored_response_streams', 'stored_response_events', 'stored_chat_completions'],
  'cached_answers',
  ...['conversation_items', 'files', 'idempotency_keys', 'usage_daily', 'usage_runs_daily', 'usage_details_daily', 'usage_labels_daily'],
  ...['ledger_daily', 'lane_spend', 'usage_quarter_hours', 'usage_segments'],
]);

const UNRELEASED = 'before the first release: no database is large that has not been through it';

/** Which migrations may all the same, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  '0022-refunds-and-meters': UNRELEASED,
  '0026-background-responses': UNRELEASED,
  '0030-receipt-log': UNRELEASED,
  '0035-receipt-list': UNRELEASED,
  '0038-anchors': UNRELEASED,
  '0056-forgetting': UNRELEASED,
  '0064-receipts-followed': UNRELEASED,
  '0076-mails-sent-once': UNRELEASED,
  '0077-emails-in-turn': UNRELEASED,
  '0090-plans-as-data': UNRELEASED,
  '0094-books-by-batch': `${UNRELEASED}; it makes the table anew by month`,
  '0096-receipts-by-month': `${UNRELEASED}; it makes the table anew by month`,
  '0206-streams-sealed-as-bytes': UNRELEASED,
  '0276-audit-log-by-month': `${UNRELEASED}; it makes the table anew by month`,
  '0256-usage-by-quarter-hour': UNRELEASED,
};

const sqlOf = ({ name, up }: (typeof migrations)[number]) => ({ name, sql: typeof up === 'string' ? up : String(up) });

test('no migration locks a large table for long, but for those that are named with their reason', () => {
  const found = longLocks(migrations.map(sqlOf), (table) => LARGE.has(table));
  const said = found
    .filter(({ migration }) => !(migration in EXCEPTIONS))
    .map(({ migration, table, why }) => `${migration}, ${table}: ${why}`);
  expect(said).toEqual([]);
  expect(Object.keys(EXCEPTIONS)).toEqual([...new Set(found.map(({ migration }) => migration))]);
});

const locksOf = (sql: string) => longLocks([{ name: '0001-a', sql }], (table) => table === 'large').map(({ why }) => why);

test.each([
  'create index on large (a)',
  'create unique index large_a on large using btree (a)',
  'alter table large add column a uuid not null default gen_random_uuid()',
  'alter table large add column a text, add column b bigserial',
  'alter table large add column a int generated always as (b + 1) stored',
  'alter table large add column a int references other',
  'alter table only public.large add constraint large_a check (a > 0)',
  'alter table large add primary key (a, b)',
  'alter table large alter column a type bigint',
  'alter table large alter a set not null',
  'alter table large rename to older',
  'update large set a = 1',
  'delete from large where a is null',
  'with old as (select 1) delete from large using old',
  'insert into large select * from other',
  "do $$ begin if true then update large set a = 1; end if; execute format('alter table large add check (a > %s)', 1); end $$",
  'truncate large; lock table other',
])('%s is refused', (sql) => {
  expect(locksOf(sql).length).toBeGreaterThan(0);
});

test.each([
  "alter table large add column a text not null default 'one, two', add column b timestamptz default now(), add column c boolean default false",
  'alter table large add constraint large_a check (a > 0) not valid',
  'alter table large add constraint large_key unique using index large_a',
  'alter table large validate constraint large_a',
  'alter table large drop column a, alter column b drop not null',
  'create index concurrently large_a on large (a)',
  'create index large_a on only large (a)',
  'create table large (a int); create index on large (a); insert into large select 1; alter table large add unique (a)',
  "insert into large (a) values ('x')",
  'create function later() returns void language sql as $$ update large set a = 1 $$',
  'update small set a = 1 from large -- update large',
])('%s passes', (sql) => {
  expect(locksOf(sql)).toEqual([]);
});
