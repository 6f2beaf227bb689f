import { exampleAnswer } from '@tallygate/sdk/testing/contract-examples';
import { KEY_ID as ID, refusal } from '@tallygate/sdk/testing/fixtures';
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
const preview = exampleAnswer('plans.upgradePreview');
const config = Object.values(preview).find((value) => value?.plan_id === 'pro');
const PAGE = 'https://checkout.example/c/1';
const made = (status: 'open' | 'completed', kind = {}) => ({
  json: {
    checkout_id: ID,
    status,
    checkout_url: status === 'open' ? PAGE : null,
    amount_usd: '20',
    expires_at: null,
    livemode: true,
    ...kind,
  },
});
const state = (status: 'open' | 'completed' | 'expired') => ({
  json: { ...made('open').json, status, checkout_url: status === 'open' ? PAGE : null, kind: 'plan', plan_id: 'pro' },
});

describe('plans', () => {
  it('are listed without a login', async () => {
    gateway.script({ json: [config] });
    const { stdout, exitCode } = await terminal.type(['plans', 'list', '--json', 'plan_id,monthly_price_usd'], {});
    expect([JSON.parse(stdout)[0].plan_id, exitCode, gateway.requests[0]?.headers.authorization]).toEqual(['pro', 0, undefined]);
  });

  it('are compared side by side', async () => {
    const values = (value: string | number | boolean) => [
      { plan_id: 'free', value },
      { plan_id: 'pro', value: true },
    ];
    const rows = [{ entitlement: 'batches', kind: 'feature', values: values(false) }];
    gateway.script({ json: { plans: [{ ...config, plan_id: 'free' }, config], rows } });
    expect((await terminal.type(['plans', 'compare'], people)).stdout).toBe('WHAT     FREE  PRO\nbatches    no  yes\n');
  });

  it('show what the account has, and what is scheduled', async () => {
    gateway.script({ json: exampleAnswer('plans.current') });
    expect((await terminal.type(['plans', 'show'])).stdout).toMatch(/^Plan\tPro \(version 1\)\n/);
  });
});

describe('plans usage', () => {
  const meter = (used: number, beyond = 0) => ({
    meter: 'tokens',
    included: 1_000_000,
    used,
    remaining: 1_000_000 - used,
    beyond,
    utilization: used / 1_000_000,
  });
  const usage = (...meters: object[]) => ({ json: { ...exampleAnswer('plans.usage'), meters } });

  it('draws no full bar for what the plan does not include at all', async () => {
    gateway.script(usage({ ...meter(0), meter: 'video_seconds', included: 0, remaining: 0, utilization: 1 }));
    const { stdout } = await terminal.type(['plans', 'usage'], people);
    expect(stdout).toMatch(/^video_seconds +not included\n/);
  });

  it.each([
    [0, `${'░'.repeat(30)}    0.0 %  0 of 1,000,000`],
    [500_000, `${'█'.repeat(15)}${'░'.repeat(15)}   50.0 %  500,000 of 1,000,000`],
    [999_999, `${'█'.repeat(29)}░   99.9 %  999,999 of 1,000,000`],
    [1_000_000, `${'█'.repeat(30)}  100.0 %  1,000,000 of 1,000,000`],
  ])('draws %d of a million as a bar that is full only when nothing is left', async (used, bar) => {
    gateway.script(usage(meter(used)));
    expect((await terminal.type(['plans', 'usage'], people)).stdout.split('\n')[0]).toBe(`tokens  ${bar}`);
  });

  it('shows the usage beyond the quota, and gives a script numbers', async () => {
    gateway.script(usage(meter(1_000_000, 1_234)), usage(meter(500_000)));
    expect((await terminal.type(['plans', 'usage'], people)).stdout).toContain(', 1,234 beyond');
    expect((await terminal.type(['plans', 'usage'])).stdout).toBe('tokens\t500000\t1000000\t500000\t0\n');
  });
});

describe('an upgrade', () => {
  it('shows old, new, difference and date, asks, opens the page and waits for the result', async () => {
    gateway.script({ json: { ...preview, requires_checkout: true } }, made('open', { plan_id: 'pro' }), state('open'), state('completed'));
    const { stdout, stderr, exitCode } = await terminal.type(['plans', 'upgrade', 'pro', '--every', '0.001'], { ...people, typed: ['y'] });
    for (const said of [
      'Old',
      'New',
      'Difference',
      'From',
      'Due now: 20 USD',
      'Move to',
      'is open in your browser',
      '\rWaiting for the payment: completed',
    ])
      expect(stderr).toContain(said);
    expect([terminal.openedPages, exitCode]).toEqual([[PAGE], 0]);
    expect(stdout).toContain('completed');
    expect(gateway.requests[1]?.body).toEqual({ plan_id: 'pro' });
  });

  it('of a paid plan costs exactly the amount of the preview', async () => {
    gateway.script(
      { json: { ...preview, requires_checkout: false, effective_at: '2026-11-21T08:00:00.000Z' } },
      made('completed', { plan_id: 'scale' }),
    );
    const { exitCode } = await terminal.type(['plans', 'upgrade', 'scale', '--yes']);
    expect([exitCode, terminal.openedPages, gateway.requests[1]?.body]).toEqual([
      0,
      [],
      { plan_id: 'scale', prorated_at: '2026-11-21T08:00:00.000Z' },
    ]);
    expect(gateway.requests[1]?.headers['idempotency-key']).toBeDefined();
  });

  it.each([
    [{ ...people, typed: ['n'] }, 1, 'Nothing was changed.'],
    [{ apiKey: 'tg_test_secret' }, 2, 'Give --yes.'],
  ])('is not made unless it is meant', async (who, code, said) => {
    gateway.script({ json: preview });
    const { stderr, exitCode } = await terminal.type(['plans', 'upgrade', 'pro'], who);
    expect([exitCode, gateway.requests.length]).toEqual([code, 1]);
    expect(stderr).toContain(said);
  });

  it('is only shown with --preview', async () => {
    gateway.script({ json: preview });
    expect((await terminal.type(['plans', 'upgrade', 'pro', '--preview'])).exitCode).toBe(0);
    expect(gateway.requests).toHaveLength(1);
  });

  it('that a card declines has the exit code of a refusal', async () => {
    gateway.script({ json: preview }, refusal('payment_declined'));
    expect((await terminal.type(['plans', 'upgrade', 'pro', '--yes'])).stderr).toContain('payment_declined');
  });
});

describe('a checkout', () => {
  it('whose page expires is a failure', async () => {
    gateway.script({ json: preview }, made('open', { plan_id: 'pro' }), state('expired'));
    const { exitCode, stderr } = await terminal.type(['plans', 'checkout', 'pro', '--yes', '--no-browser']);
    expect([exitCode, terminal.openedPages]).toEqual([1, []]);
    expect(stderr).toContain(`Pay here: ${PAGE}\nWaiting for the payment.\n`);
  });

  it('is not waited for with --no-wait', async () => {
    gateway.script(made('open'));
    const { stdout, exitCode } = await terminal.type([
      'plans',
      'topup',
      '25',
      '--save-card',
      '--yes',
      '--no-browser',
      '--no-wait',
      '--json',
      'checkout_url',
    ]);
    expect([stdout, exitCode]).toEqual([`{"checkout_url":"${PAGE}"}\n`, 0]);
    expect(gateway.requests[0]?.body).toEqual({ amount_usd: '25', save_card: true });
  });
});

describe('a downgrade', () => {
  it('shows the lost features, asks, and is scheduled', async () => {
    const scheduled = {
      downgrade_id: ID,
      from_plan_id: 'pro',
      to_plan_id: 'free',
      effective_at: '2026-12-21T08:00:00.000Z',
      state: 'scheduled',
      livemode: true,
    };
    gateway.script({ json: exampleAnswer('plans.downgradePreview') }, { json: scheduled });
    const { stdout, stderr } = await terminal.type(['plans', 'downgrade', 'free'], { ...people, typed: ['yes'] });
    expect(stderr).toContain('Warning: 5000000 tokens are used this month');
    expect(stdout).toContain('scheduled');
  });

  it('is taken back with --undo, and needs a plan otherwise', async () => {
    gateway.script({ json: exampleAnswer('plans.current') });
    expect((await terminal.type(['plans', 'downgrade', '--undo'])).stderr).toBe('The plan is unchanged.\n');
    expect(gateway.requests[0]?.method).toBe('DELETE');
    expect((await terminal.type(['plans', 'downgrade'])).exitCode).toBe(2);
  });
});

describe('money', () => {
  it('shows charges, balance and invoices', async () => {
    const invoice = exampleAnswer('plans.getInvoice');
    gateway.script(
      { json: exampleAnswer('plans.overageEstimate') },
      { json: exampleAnswer('plans.billingSummary') },
      { json: { data: [{ ...invoice, lines: undefined }], has_more: false, next_cursor: null } },
      { json: invoice },
      { headers: { 'content-type': 'text/html' }, text: '<!doctype html>' },
    );
    expect((await terminal.type(['plans', 'overage'], people)).stdout).toContain('gpt-5.4-nano');
    expect((await terminal.type(['plans', 'billing'])).stdout).toContain('Balance USD\t');
    expect((await terminal.type(['plans', 'invoices'])).stdout).toContain('TG-2026-11-55ee77');
    expect((await terminal.type(['plans', 'invoices', ID], people)).stdout).toContain('0.00405');
    expect((await terminal.type(['plans', 'invoices', ID, '--html', '-'])).stdout).toBe('<!doctype html>');
  });

  it('opens the portal where the card is changed', async () => {
    gateway.script({ json: { url: 'https://billing.example/p/1' } });
    expect((await terminal.type(['plans', 'billing', '--portal'])).stdout).toBe('https://billing.example/p/1\n');
    expect(terminal.openedPages).toEqual(['https://billing.example/p/1']);
  });
});

describe('automatic top-up', () => {
  const settings = {
    enabled: true,
    threshold_usd: '5',
    amount_usd: '25',
    daily_maximum_usd: '125',
    status: 'ready',
    decline: null,
    livemode: true,
  };

  it('is shown, and is set only once its owner agrees', async () => {
    gateway.script({ json: settings }, { json: settings });
    expect((await terminal.type(['plans', 'auto-topup', 'show'])).stdout).toContain('Charge USD\t25\n');
    const typed = await terminal.type(['plans', 'auto-topup', 'set', '--below', '5', '--amount', '25'], { ...people, typed: ['y'] });
    expect([typed.exitCode, gateway.requests[1]?.body]).toEqual([0, { enabled: true, threshold_usd: '5', amount_usd: '25' }]);
    expect((await terminal.type(['plans', 'auto-topup', 'set', '--below', '5', '--amount', '25'])).exitCode).toBe(2);
    expect(gateway.requests).toHaveLength(2);
  });

  it('is switched off without a question, and its settings stay', async () => {
    gateway.script({ json: settings }, { json: { ...settings, enabled: false, status: 'off' } });
    const { stdout } = await terminal.type(['plans', 'auto-topup', 'off']);
    expect(stdout).toContain('Status\toff\n');
    expect(gateway.requests[1]?.body).toEqual({ enabled: false, threshold_usd: '5', amount_usd: '25', daily_maximum_usd: '125' });
  });
});

describe('spend alerts', () => {
  const alerts = exampleAnswer('plans.getSpendAlerts');

  it('are listed with what was reached, set anew, and switched off', async () => {
    gateway.script({ json: alerts }, { json: alerts }, { json: { thresholds_usd: [], alerts: [] } });
    expect((await terminal.type(['plans', 'alerts', 'list'], people)).stdout).toMatch(/10 +2026-11/);
    expect((await terminal.type(['plans', 'alerts', 'set', '10', '50'])).stdout).toContain('50');
    await terminal.type(['plans', 'alerts', 'off']);
    expect(gateway.requests.slice(1).map(({ body }) => body)).toEqual([{ thresholds_usd: ['10', '50'] }, { thresholds_usd: [] }]);
  });
});
