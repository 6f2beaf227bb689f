import { budgetStatus, KEY_ID, key, refusal } from '@tallygate/sdk/testing/fixtures';
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

const people = { apiKey: 'tg_test_secret', isTty: true };
const page = (data: object[]) => ({ json: { data, has_more: false, next_cursor: null } });

describe('budgets show', () => {
  it('shows the budget of one key, by its name', async () => {
    gateway.script({ json: [key] }, { json: budgetStatus });
    const { stdout } = await terminal.type(['budgets', 'show', 'production'], people);
    expect(stdout).toBe(
      [
        `Key        ${KEY_ID}`,
        'Month      2026-11',
        'Status     warning',
        'Cap USD    25',
        'Spent USD  20.5',
        'Held USD   0.04',
        'Left USD   4.46',
        'Used       82.34 %',
        'Alerts at  50 %, 80 %, 100 %',
        'Resets     2026-12-01T00:00:00.000Z',
        '',
      ].join('\n'),
    );
    expect(gateway.requests.at(-1)?.path).toBe(`/v1/keys/${KEY_ID}/budget`);
  });

  it('lists all keys, with the sum of the live ones for people', async () => {
    const { period, period_start, resets_at } = budgetStatus;
    const item = { ...budgetStatus, name: 'production', livemode: true, revoked: false };
    gateway.script({ json: { period, period_start, resets_at, spent_usd: '20.5', held_usd: '0.04', items: [item], total: 1 } });
    const { stdout } = await terminal.type(['budgets', 'show'], people);
    expect(stdout.split('\n').slice(1)).toEqual([
      `${KEY_ID}  production  live  warning       25       20.5      0.04      4.46  82.34 %  █████████████████░░░`,
      'Live keys in 2026-11: 20.5 USD spent, 0.04 USD held.',
      '',
    ]);
  });
});

describe('budgets set and clear', () => {
  it('takes an id as it is, without asking for the list', async () => {
    gateway.script({ json: budgetStatus });
    const { exitCode } = await terminal.type(['budgets', 'set', KEY_ID, '25', '--alerts', '80,100', '--json', 'status']);
    expect(exitCode).toBe(0);
    expect(gateway.requests).toHaveLength(1);
    expect(gateway.requests[0]).toMatchObject({ method: 'PATCH', body: { monthly_cap_usd: '25', alert_thresholds: [80, 100] } });
  });

  it('clears the cap and leaves the alerts alone', async () => {
    gateway.script({ json: { ...budgetStatus, monthly_cap_usd: null, remaining_usd: null, utilization: null, status: 'uncapped' } });
    const { stdout } = await terminal.type(['budgets', 'clear', KEY_ID]);
    expect(gateway.requests[0]?.body).toEqual({ monthly_cap_usd: null });
    expect(stdout).toContain('Status\tuncapped\nCap USD\tnone\n');
  });

  it.each([
    [['budgets', 'set', KEY_ID], "missing required argument 'amount'"],
    [['budgets', 'set', KEY_ID, '25 USD'], 'Expected an amount in USD such as 25 or 0.50.'],
    [['budgets', 'set', KEY_ID, '25', '--alerts', 'soon'], 'Expected a whole number from 1 on.'],
    [['budgets', 'sett', KEY_ID, '25'], 'Did you mean set?'],
  ])('exits with 2 for %j', async (argv, sentence) => {
    const { stderr, exitCode } = await terminal.type(argv);
    expect(stderr).toContain(sentence);
    expect(exitCode).toBe(2);
  });
});

it('lists who changed a budget, from what to what', async () => {
  const change = {
    change_id: KEY_ID,
    changed_at: '2026-11-21T08:00:00.000Z',
    actor: { kind: 'user', id: '…ee77' },
    previous_cap_usd: null,
    new_cap_usd: '25',
    previous_alert_thresholds: [],
    new_alert_thresholds: [50, 100],
  };
  gateway.script(page([change]));
  const { stdout } = await terminal.type(['budgets', 'history', KEY_ID]);
  expect(stdout).toBe('2026-11-21T08:00:00.000Z\tuser …ee77\t-\t25\tnone\t50 %, 100 %\n');
});

it('lists alerts with their cause in words', async () => {
  const alert = {
    alert_id: KEY_ID,
    period: '2026-11',
    threshold_percent: 100,
    kind: 'exceeded',
    cause: 'refusal',
    spent_usd: '24.9',
    cap_usd: '25',
    required_usd: '0.4',
    created_at: '2026-11-21T08:00:00.000Z',
    resets_at: '2026-12-01T00:00:00.000Z',
  };
  const early = { ...alert, threshold_percent: null, kind: 'warning', spent_usd: '0', required_usd: '30' };
  gateway.script(page([alert, early]));
  const { stdout } = await terminal.type(['budgets', 'alerts', KEY_ID]);
  expect(stdout).toBe(
    '2026-11-21T08:00:00.000Z\t2026-11\t100 %\ta request did not fit\t24.9\t25\n' +
      '2026-11-21T08:00:00.000Z\t2026-11\t-\ta request did not fit\t0\t25\n',
  );
});

it('exits with 1 when the budget of a revoked key is changed', async () => {
  gateway.script(refusal('conflict', { detail: 'The API key is revoked.' }));
  expect((await terminal.type(['budgets', 'clear', KEY_ID])).exitCode).toBe(1);
});
