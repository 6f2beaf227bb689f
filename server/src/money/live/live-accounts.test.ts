import type { KeyBudgetSummaryResponse, LiveFigures } from '@tallygate/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Principal } from '../../http/index.ts';
import { createLog } from '../../kernel/log.ts';
import { LiveAccounts } from './live-accounts.ts';

const principalOf = (accountId: string): Principal =>
  ({ kind: 'session', accountId, userId: 'ada', sessionId: 's', role: 'member' }) as Principal;
const budgetsWith = (held: string) => ({ held_usd: held, items: [] }) as unknown as KeyBudgetSummaryResponse;

/** Figures that a test sets, and how often each was asked for. */
function watching() {
  const state = { held: '0', asked: 0, askedLedger: 0 };
  const accounts = new LiveAccounts({
    log: createLog('silent'),
    read: {
      async budgets() {
        state.asked += 1;
        return budgetsWith(state.held);
      },
      async settled() {
        state.askedLedger += 1;
        return { runs: [], requests: [] };
      },
    },
  });
  return { state, accounts };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('tells everything first, then only what has changed', async () => {
  const { state, accounts } = watching();
  const told: LiveFigures[] = [];
  accounts.follow(
    principalOf('a'),
    (changed) => told.push(changed),
    () => {},
  );
  await vi.advanceTimersByTimeAsync(10_000);
  state.held = '0.25';
  await vi.advanceTimersByTimeAsync(2_000);
  expect(told).toEqual([{ budgets: budgetsWith('0'), runs: [], requests: [] }, { budgets: budgetsWith('0.25') }]);
});

test('looks once a second for all who watch an account, and not at all when none does', async () => {
  const { state, accounts } = watching();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.asked).toBe(0);
  const followers = Array.from({ length: 20 }, () =>
    accounts.follow(
      principalOf('a'),
      () => {},
      () => {},
    ),
  );
  await vi.advanceTimersByTimeAsync(9_500);
  expect(state.asked).toBe(10);
  for (const follower of followers) follower.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.asked).toBe(10);
});

test('looks less often at an account whose look takes long', async () => {
  let asked = 0;
  const budgets = async () => {
    asked += 1;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return budgetsWith(`${asked}`);
  };
  const accounts = new LiveAccounts({ log: createLog('silent'), read: { budgets, settled: async () => ({ runs: [], requests: [] }) } });
  const { close } = accounts.follow(
    principalOf('a'),
    () => {},
    () => {},
  );
  await vi.advanceTimersByTimeAsync(49_900);
  expect(asked).toBe(10);
  close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(10);
});

test('asks the ledger while figures move, and otherwise every ten seconds', async () => {
  const { state, accounts } = watching();
  accounts.follow(
    principalOf('a'),
    () => {},
    () => {},
  );
  await vi.advanceTimersByTimeAsync(20_500);
  const idle = state.askedLedger;
  state.held = '1';
  await vi.advanceTimersByTimeAsync(4_000);
  expect([idle, state.askedLedger - idle]).toEqual([6, 4]);
});

test('refuses more streams than an account may have, until one has ended', () => {
  const { accounts } = watching();
  const follow = () =>
    accounts.follow(
      principalOf('a'),
      () => {},
      () => {},
    );
  const followers = Array.from({ length: 50 }, follow);
  expect(follow).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  followers[0]?.close();
  expect(follow).not.toThrow();
});

test('says that the gateway is full where a thousand accounts have a stream each', () => {
  const { accounts } = watching();
  const follow = (account: string) =>
    accounts.follow(
      principalOf(account),
      () => {},
      () => {},
    );
  for (let stream = 0; stream < 1_000; stream += 1) follow(`${stream}`);
  expect(() => follow('new')).toThrow('This gateway has as many streams as it may');
});

test('a look that fails ends no stream: the next one tells what has changed', async () => {
  const told: LiveFigures[] = [];
  let isDown = true;
  const budgets = async () => {
    if (isDown) throw new Error('the database is away');
    return budgetsWith('0');
  };
  const accounts = new LiveAccounts({ log: createLog('silent'), read: { budgets, settled: async () => ({ runs: [], requests: [] }) } });
  accounts.follow(
    principalOf('a'),
    (changed) => told.push(changed),
    () => {},
  );
  await vi.advanceTimersByTimeAsync(2_000);
  isDown = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told).toEqual([{ budgets: budgetsWith('0'), runs: [], requests: [] }]);
});

test('no accounts together shut another one out: the one with the most streams gives one up', () => {
  const { accounts } = watching();
  const ended: string[] = [];
  const follow = (account: string, name: string) =>
    accounts.follow(
      principalOf(account),
      () => {},
      () => ended.push(name),
    );
  const names = Array.from({ length: 20 }, (_, at) => `account-${at}`);
  const all = names.flatMap((name) => Array.from({ length: 50 }, (_, at) => follow(name, `${name}#${at}`)));
  for (const name of ['new', 'newer']) all.push(follow(name, name));
  expect(ended).toEqual(['account-0#0', 'account-1#0']);
  expect(() => follow('account-0', 'again')).toThrow('as many streams');
  expect(() => follow('account-2', 'more')).toThrow('At most 50');
  for (const one of all) one.close();
});

test('tells developers of one account their own figures, and all others those of the account', async () => {
  const settled = async ({ userId }: Principal) => ({ runs: [], requests: [] as never[], of: userId });
  const accounts = new LiveAccounts({ log: createLog('silent'), read: { budgets: async ({ userId }) => budgetsWith(userId), settled } });
  const told = new Map<string, unknown>();
  for (const [userId, accountRole] of [
    ['ada', 'owner'],
    ['bob', 'viewer'],
    ['eve', 'developer'],
    ['joe', 'developer'],
  ] as const)
    accounts.follow(
      { ...principalOf('a'), userId, accountRole },
      ({ budgets }) => told.set(userId, budgets),
      () => {},
    );
  await vi.advanceTimersByTimeAsync(2_000);
  expect([...told]).toEqual([
    ['ada', budgetsWith('ada')],
    ['bob', budgetsWith('ada')],
    ['eve', budgetsWith('eve')],
    ['joe', budgetsWith('joe')],
  ]);
});
