import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen } from '../../adapters/postgres/listener.ts';
import type { Listener } from '../../adapters/postgres/port.ts';
import { openTestDatabase } from '../../app/http/testing/account-api.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import type { RunWish } from './run.ts';
import { RunDirectory } from './run-directory.ts';
import { RunQueries } from './run-queries.ts';
import { createRunStore, RUNS_CHANNEL } from './run-store.ts';

type World = Awaited<ReturnType<typeof openTestDatabase>>;
let world: World;
const listeners: Listener[] = [];
const clock = { now: () => Date.now() };
beforeAll(async () => {
  world = await openTestDatabase();
});
afterAll(async () => {
  await Promise.all(listeners.map((one) => one.close()));
  await world?.close();
});

/** What one gateway knows of runs. */
async function openInstance() {
  const store = createRunStore(world.database.pool);
  const directory = new RunDirectory({ store, clock, log: silentLog() });
  const connected = Promise.withResolvers<void>();
  listeners.push(
    listen(world.url, {
      channels: [RUNS_CHANNEL],
      onNotify: (_channel, payload) => directory.heard(payload),
      onConnected: () => {
        directory.listening();
        connected.resolve();
      },
      onLost: () => directory.disconnected(),
      log: silentLog(),
    }),
  );
  await connected.promise;
  return { store, directory };
}
const wish = (accountId: string, runId: string, more: Partial<RunWish> = {}): RunWish => ({
  accountId,
  livemode: true,
  runId,
  parentRunId: null,
  maxCalls: null,
  deadlineAt: null,
  ...more,
});
const codeOf = (entered: Promise<unknown>) =>
  entered.then(
    () => 'entered',
    (thrown: { code?: string }) => thrown.code,
  );

test('a run that is closed on one gateway stops what runs in it and below it on another, within a second, once', async () => {
  const [here, there] = await Promise.all([openInstance(), openInstance()]);
  const accountId = newId();
  const owner = { accountId, livemode: true };
  const parent = await there.directory.enter(wish(accountId, 'parent'));
  const child = await there.directory.enter(wish(accountId, 'child', { parentRunId: 'parent' }));
  const stranger = await there.directory.enter(wish(newId(), 'parent'));
  const test = await there.directory.enter(wish(accountId, 'parent', { livemode: false }));
  let entries = 0;
  const note = async () => {
    entries += 1;
  };
  const closedAt = Date.now();
  expect(await here.store.close(owner, 'parent', closedAt, note)).toBe(true);
  await expect
    .poll(() => [parent.stopped?.code, child.stopped?.code], { timeout: 60_000, interval: 5 })
    .toEqual(['run_closed', 'run_closed']);
  expect([parent.signal.aborted, child.signal.aborted, stranger.signal.aborted, test.signal.aborted]).toEqual([true, true, false, false]);
  for (const { directory } of [here, there])
    for (const runId of ['parent', 'child']) expect(await codeOf(directory.enter(wish(accountId, runId)))).toBe('run_closed');
  expect(await here.store.close(owner, 'parent', closedAt + 5, note)).toBe(false);
  expect(await here.store.close(owner, 'nobody', closedAt, note)).toBeUndefined();
  expect(entries).toBe(1);
  const queries = new RunQueries(world.database.pool);
  const { data, has_more } = await queries.list(owner, { limit: 10 }, Date.now());
  expect([has_more, data.map(({ run_id, parent_run_id, state }) => [run_id, parent_run_id, state])]).toEqual([
    false,
    [
      ['child', 'parent', 'closed'],
      ['parent', null, 'closed'],
    ],
  ]);
  for (const step of [parent, child, stranger, test]) step.leave();
});

test('calls are counted once on every run of the chain, on all gateways together, and never beyond a bound', async () => {
  const [here, there] = await Promise.all([openInstance(), openInstance()]);
  const accountId = newId();
  const first = await here.directory.enter(wish(accountId, 'root', { maxCalls: 8 }));
  first.admitted();
  first.leave();
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const { directory } = index % 2 ? here : there;
      const runId = index % 3 ? 'root' : 'leaf';
      const outcome = await codeOf(
        directory.enter(wish(accountId, runId, runId === 'leaf' ? { parentRunId: 'root' } : {})).then((step) => {
          step.admitted();
          step.leave();
        }),
      );
      return outcome;
    }),
  );
  expect(outcomes.filter((outcome) => outcome === 'entered')).toHaveLength(7);
  expect(outcomes.filter((outcome) => outcome === 'run_exhausted')).toHaveLength(13);
  const [root] = (
    await new RunQueries(world.database.pool).list({ accountId, livemode: true }, { state: 'exhausted', limit: 5 }, Date.now())
  ).data;
  expect(root).toMatchObject({ run_id: 'root', max_calls: 8, calls_remaining: 0, state: 'exhausted' });
});

test('a deadline that is brought forward on one gateway stops what runs on another', async () => {
  const [here, there] = await Promise.all([openInstance(), openInstance()]);
  const accountId = newId();
  const running = await there.directory.enter(wish(accountId, 'a', { deadlineAt: Date.now() + 3_600_000 }));
  const next = await here.directory.enter(wish(accountId, 'a', { deadlineAt: Date.now() + 300 }));
  await expect.poll(() => running.stopped?.code, { timeout: 60_000, interval: 5 }).toBe('run_exhausted');
  const later = Date.now() + 9_000_000;
  expect(await codeOf(here.directory.enter(wish(accountId, 'a', { deadlineAt: later })))).toBe('run_exhausted');
  for (const step of [running, next]) step.leave();
});

test('a run that begins on two gateways at once has one beginning', async () => {
  const [here, there] = await Promise.all([openInstance(), openInstance()]);
  const accountId = newId();
  (await here.directory.enter(wish(accountId, 'p'))).leave();
  const [one, other] = await Promise.allSettled([
    here.directory.enter(wish(accountId, 'a', { parentRunId: 'p' })),
    there.directory.enter(wish(accountId, 'a')),
  ]);
  // Whoever came second without naming a parent is in the run as it was begun; who names one that it has not is refused.
  expect(other.status).toBe('fulfilled');
  const bounds = await here.store.read({ accountId, livemode: true }, 'a');
  expect(one.status).toBe(bounds?.ancestors.length === 1 ? 'fulfilled' : 'rejected');
  for (const entered of [one, other]) if (entered.status === 'fulfilled') entered.value.leave();
});

test('a run is begun by any number of first calls at once', async () => {
  const { directory } = await openInstance();
  for (let round = 0; round < 20; round += 1) {
    const accountId = newId();
    const entered = await Promise.all(Array.from({ length: 20 }, () => codeOf(directory.enter(wish(accountId, 'new')))));
    expect(new Set(entered)).toEqual(new Set(['entered']));
  }
});
