import { completion, inferenceAnswerHeaders, key, model, refusal, session, user } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';
import { keySet, readVector } from '../../testing/vectors.ts';
import { VERSION } from '../version.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const NOW = 'Sat, 21 Nov 2026 08:00:00 GMT';
const status = (version = VERSION, date = NOW) => ({
  headers: { date },
  json: {
    name: 'Tallygate',
    status: 'ok',
    version,
    documentation: `${gateway.baseUrl}/docs/`,
    openapi: `${gateway.baseUrl}/openapi.json`,
    agent: `${gateway.baseUrl}/.well-known/agent.json`,
    llms: `${gateway.baseUrl}/llms.txt`,
    mcp: `${gateway.baseUrl}/mcp`,
  },
});
const examine = async (circumstances: object = { apiKey: `${key.prefix}secret` }) => {
  const { stdout, stderr, exitCode } = await terminal.type(['doctor', '--json', 'all'], circumstances);
  const findings: { check: string; status: string; detail: string; next_step: string | null }[] = JSON.parse(stdout);
  return { findings, of: (check: string) => findings.find((each) => each.check === check), stderr, exitCode };
};

const budget = {
  ...{ key_id: key.key_id, period: '2026-11', period_start: '2026-11-01T00:00:00.000Z', resets_at: '2026-12-01T00:00:00.000Z' },
  ...{ monthly_cap_usd: '25', spent_usd: '25', held_usd: '0', remaining_usd: '0', utilization: 1, alert_thresholds: [100] },
  ...{ status: 'exceeded', name: 'production', livemode: true, revoked: false },
};

const { period, period_start, resets_at, spent_usd, held_usd } = budget;
const summary = { ...{ period, period_start, resets_at, spent_usd, held_usd }, total: 1, items: [budget] };

it('names the credential with its source, scopes and end, and the caps that would refuse the next request', async () => {
  gateway.script(
    ...[status(), { json: user }, { json: [{ ...key, scopes: ['account:read'], expires_at: '2026-11-22T08:00:00.000Z' }] }],
    ...[{ json: summary }, refusal('scope_required')],
    ...[{ json: { object: 'list', data: [model] } }, { json: { data: [], has_more: false, next_cursor: null } }],
  );
  const { of, exitCode } = await examine();
  expect(of('address')).toMatchObject({ status: 'ok', detail: `${gateway.baseUrl}, by TALLYGATE_BASE_URL` });
  expect(of('clock')).toMatchObject({ status: 'ok', detail: '0 seconds ahead of the gateway’s' });
  expect(of('credential')?.detail).toBe('TALLYGATE_API_KEY, of ada@example.com');
  expect(of('scopes')).toMatchObject({ status: 'warn', detail: '"production", live: account:read; it lacks inference' });
  expect(of('expiry')).toMatchObject({ status: 'warn', detail: '2026-11-22T08:00:00.000Z' });
  expect(of('budgets')).toMatchObject({ status: 'warn', detail: 'the cap of "production" is reached' });
  expect(of('request')?.detail).toBe('1 models; nothing was asked of them, since that would cost');
  // What a key may not see is no fault of the gateway.
  expect([of('plan')?.status, exitCode]).toEqual(['warn', 0]);
});

it.each([
  ['ok', JSON.parse(keySet)],
  ['fail', { keys: [] }],
])('asks a test key’s model for free, and finds the receipt %s', async (verdict, keys) => {
  const vector = readVector('good/plain');
  gateway.script(
    ...[status(), { json: user }, { json: [] }, refusal('scope_required'), refusal('scope_required')],
    ...[{ json: completion, headers: inferenceAnswerHeaders }, { json: keys }, { json: vector.receipt }],
  );
  const { of, exitCode } = await examine({ apiKey: 'tg_test_secret' });
  expect(of('request')?.detail).toContain('answered the test key for free');
  expect([of('receipt')?.status, exitCode]).toEqual([verdict, verdict === 'ok' ? 0 : 1]);
});

it('reports where a login is stored, and that no user is logged in', async () => {
  terminal.keyring = new Map();
  gateway.script({ json: { ...user, session } }, { json: { keys: [] } }, { json: { object: 'list', data: [] } });
  await terminal.type(['login', '--email', 'ada@example.com'], { stdin: 'seven grey herons at dawn' });
  gateway.script(status(), { json: user }, refusal('forbidden'), refusal('forbidden'), refusal('forbidden'));
  expect((await examine({})).of('credential')?.detail).toBe('the login of profile "default" in a keyring, of ada@example.com');
  gateway.script(status());
  const { of, exitCode } = await terminal.type(['--profile', 'other', 'doctor', '--json', 'all'], {}).then(({ stdout, exitCode }) => ({
    of: (check: string) => JSON.parse(stdout).find((each: { check: string }) => each.check === check),
    exitCode,
  }));
  expect([of('credential').next_step, exitCode]).toEqual([expect.stringContaining('tallygate login'), 1]);
});

it('reports a wrong clock and another version, each with the next step', async () => {
  gateway.script(status('0.99.0', 'Sat, 21 Nov 2026 07:54:00 GMT'));
  const { of, exitCode } = await examine({});
  expect(of('version')).toMatchObject({ status: 'warn', next_step: expect.stringContaining('tallygate@0.99.0') });
  expect(of('clock')).toMatchObject({
    status: 'fail',
    detail: '360 seconds ahead of the gateway’s',
    next_step: expect.stringContaining('NTP'),
  });
  expect(exitCode).toBe(1);
});

it('stops at a gateway that does not answer, and reports on this computer', async () => {
  await gateway[Symbol.asyncDispose]();
  const { stdout, exitCode } = await terminal.type(['doctor'], { isTty: true, variables: { HTTPS_PROXY: 'http://proxy:3128' } });
  gateway = await startStubGateway();
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^warn {2}proxy {7}HTTPS_PROXY is set, and Node goes past it\n {18}next: Set NODE_USE_ENV_PROXY=1/m);
  expect(stdout).toMatch(/^fail {2}gateway {5}.+\n {18}next: .+\n$/m);
  expect(stdout).not.toContain('credential');
});
