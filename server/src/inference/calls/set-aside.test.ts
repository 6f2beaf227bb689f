import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { silentLog } from '../../kernel/log.ts';
import { InProcessCircuits } from './circuits.ts';
import { SetAside } from './set-aside.ts';

const NAME = 'openai#1 gpt-4o-mini';
const START = Date.parse('2026-11-21T08:00:00Z');
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let now = START;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
});
beforeEach(async () => {
  now = START;
  await pool.query('truncate webhook_messages cascade; truncate deployments_set_aside');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** What one gateway knows of its providers. */
function gateway() {
  const setAside = new SetAside({ pool, clock: { now: () => now }, log: silentLog() });
  const circuits = new InProcessCircuits(
    (opened) => setAside.began(opened),
    (name) => setAside.ended(name),
  );
  const fail = () => {
    for (let time = 0; time < 3; time += 1) circuits.failed(NAME, { kind: 'failed', status: 503, retryAfterMs: null }, now);
  };
  return { setAside, circuits, fail, answer: () => circuits.answered(NAME, 10, now) };
}
const told = async () =>
  (await pool.query('select type, account_id, data from webhook_messages order by id')).rows.map(({ type, account_id, data }) => ({
    ...{ type, account_id, ...data },
  }));
const PLACE = { account_id: null, provider: 'openai', deployment: 'openai#1', model: 'gpt-4o-mini' };

test('a provider that fails is told of once, and once more when it answers, by several gateways together', async () => {
  const [one, other] = [gateway(), gateway()];
  one.fail();
  other.fail();
  await Promise.all([one.setAside.settled(), other.setAside.settled()]);
  now += 10_000;
  one.answer();
  other.answer();
  await Promise.all([one.setAside.settled(), other.setAside.settled()]);
  expect(await told()).toEqual([
    { type: 'provider.set_aside', ...PLACE, reason: 'failures' },
    { type: 'provider.restored', ...PLACE, set_aside_at: new Date(START).toISOString() },
  ]);
});

test('a provider that was set aside when the gateways stopped is told of when it answers the next one', async () => {
  const before = gateway();
  before.fail();
  await before.setAside.settled();
  const next = gateway();
  for (const name of await next.setAside.names()) next.circuits.openedElsewhere(name, 1, now);
  now += 5;
  next.answer();
  await next.setAside.settled();
  expect((await told()).map(({ type }) => type)).toEqual(['provider.set_aside', 'provider.restored']);
});

test('one rate limit of a second is not told of', async () => {
  const { circuits, setAside, answer } = gateway();
  circuits.failed(NAME, { kind: 'rate_limited', status: 429, retryAfterMs: null }, now);
  now += 2_000;
  answer();
  await setAside.settled();
  expect(await told()).toEqual([]);
});
