import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { authenticatorCode } from './authenticator.ts';
import { Gateway } from './gateway.ts';
import { Terminal } from './terminal.ts';

const EMAIL = 'ada@example.com';
const PASSWORD = 'seven grey herons at dawn';
/** Dear, so that a few long questions reach the cap. */
const MODEL = 'gpt-5.6-sol';
const QUESTION = 'word '.repeat(1_500);
const SHORTER_QUESTION = 'word '.repeat(300);
/** Needs less than a tenth of the cap. */
const SHORTEST_QUESTION = 'word '.repeat(60);
/** How long a mail may take. */
const MAILED = { timeout: 120_000, interval: 100 };

let gateway: Gateway;
let terminal: Terminal;
beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
  terminal = new Terminal({ TALLYGATE_BASE_URL: gateway.url });
});
afterAll(async () => {
  terminal?.remove();
  await gateway?.remove();
});

const ask = (key: string, maxTokens = 500, question = QUESTION) =>
  terminal.type(['chat', '--model', MODEL, '--max-tokens', String(maxTokens)], { stdin: question, env: { TALLYGATE_API_KEY: key } });

/** The first answer that is none. */
async function askUntilRefused(key: string, maxTokens?: number, question?: string) {
  let answered = await ask(key, maxTokens, question);
  for (let calls = 1; answered.exitCode === 0 && calls < 30; calls += 1) answered = await ask(key, maxTokens, question);
  return answered;
}

/** The mails that went out, as files of the embedded default. */
async function subjects(): Promise<string[]> {
  const folder = join(gateway.dataDir, 'mail');
  const mails = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  return mails.map((mail) => /^Subject: (.+)$/m.exec(mail)?.[1] ?? '');
}

// One person's afternoon: each step needs the one before.
test('a new user gets from registration to a revoked key with nothing but the command line', async () => {
  // Registered by an operator, who has the internal secret.
  const internal = { TALLYGATE_INTERNAL_SECRET: gateway.bootstrap.internal_secret };
  const register = ['users', 'create', '--email', EMAIL, '--name', 'Ada', '--json', 'email,plan'];
  expect((await terminal.type(register, { stdin: PASSWORD })).exitCode).toBe(4);
  expect(JSON.parse(await terminal.must(register, { stdin: PASSWORD, env: internal }))).toEqual({ email: EMAIL, plan: 'operator' });

  // A second factor, and a login that needs it.
  const login = ['login', '--email', EMAIL];
  expect(await terminal.type(login, { stdin: 'wrong' })).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('invalid_credentials'),
  });
  await terminal.must(login, { stdin: PASSWORD });
  const link = await terminal.must(['mfa', 'enable']);
  const recoveryCodes = (await terminal.must(['mfa', 'enable', '--code', authenticatorCode(link)], { stdin: PASSWORD })).split('\n');
  expect(recoveryCodes).toHaveLength(10);
  await terminal.must(['logout']);
  expect(await terminal.type(login, { stdin: PASSWORD })).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('--code') });
  await terminal.must([...login, '--code', recoveryCodes[0] ?? ''], { stdin: PASSWORD });
  expect(JSON.parse(await terminal.must(['mfa', 'status', '--json', 'enabled,recovery_codes_left']))).toEqual({
    enabled: true,
    recovery_codes_left: 9,
  });

  // A key with a cap of five cents. A request that alone is larger is refused, which says nothing about the others.
  const key = await terminal.must(['keys', 'create', '--name', 'agent', '--test', '--cap', '0.05', '--model', MODEL, '--rpm', '100']);
  expect(await terminal.type(['chat', 'Hi.', '--model', 'gpt-4o-mini'], { env: { TALLYGATE_API_KEY: key } })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('model_not_allowed'),
  });
  expect((await ask(key, 16_000)).exitCode).toBe(5);
  expect(JSON.parse(await terminal.must(['budgets', 'show', 'agent', '--json', 'status,spent_usd']))).toEqual({
    status: 'ok',
    spent_usd: '0',
  });
  await vi.waitFor(async () => expect(await subjects()).toContain('A request of agent was refused'), MAILED);

  // Then it is spent until it refuses: by long questions, and by shorter ones once those do not fit.
  await askUntilRefused(key);
  await askUntilRefused(key, 20, SHORTER_QUESTION);
  const answered = await askUntilRefused(key, 20, SHORTEST_QUESTION);
  expect(answered).toMatchObject({ stdout: '', exitCode: 5 });
  expect(answered.stderr).toMatch(
    /\n {2}limit: key, cap 0\.05 USD, spent 0\.0\d+, held 0, needed 0\.0\d+, resets \d{4}-\d\d-01T00:00:00\.000Z\n/,
  );
  expect(answered.stderr).toContain('tallygate budgets set');

  // That refusal sends the alert of 100 %, in the list and by mail, although an earlier one was sent.
  expect(JSON.parse(await terminal.must(['budgets', 'show', 'agent', '--json', 'status,monthly_cap_usd']))).toEqual({
    status: 'exceeded',
    monthly_cap_usd: '0.05',
  });
  const alerts = (await terminal.must(['budgets', 'alerts', 'agent'])).split('\n');
  expect(alerts[0]).toContain('100 %\ta request did not fit');
  // The rest of the subject is folded into the next line.
  const subject = expect.stringMatching(/^agent has used 9\d\S* % of its monthly cap, and /);
  await vi.waitFor(async () => expect(await subjects()).toContainEqual(subject), MAILED);

  // The cap is raised, and the same key works again.
  await terminal.must(['budgets', 'set', 'agent', '0.20', '--alerts', '90,100']);
  expect((await ask(key)).exitCode).toBe(0);
  expect((await terminal.must(['budgets', 'history', 'agent'])).split('\n')[0]).toMatch(/\tuser …[0-9a-f]{4}\t0\.05\t0\.2\t/);

  // Rotated with a grace, in which both secrets work, then revoked.
  const rotated = await terminal.must(['keys', 'rotate', 'agent', '--grace', '1h']);
  expect([await ask(key, 20), await ask(rotated, 20)].map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  await terminal.must(['keys', 'revoke', 'agent']);
  expect([await ask(key, 20), await ask(rotated, 20)].map(({ exitCode }) => exitCode)).toEqual([4, 4]);

  // Everything is in the audit log, by the hand that did it.
  const log: { action: string; user_agent: string }[] = JSON.parse(
    await terminal.must(['audit', 'list', '--since', '1h', '--json', 'action,user_agent']),
  );
  expect(log.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['mfa.enabled', 'key.created', 'key.budget_changed', 'key.rotated', 'key.revoked']),
  );
  expect(log.find(({ action }) => action === 'key.rotated')?.user_agent).toMatch(/^tallygate-cli\//);

  // A new password ends the sessions elsewhere, and the factor goes with both proofs.
  const newPassword = 'eight blue kettles at noon';
  await terminal.must(['password', 'change'], { stdin: `${PASSWORD}\n${newPassword}\n` });
  expect((await terminal.must(['sessions', 'list'])).split('\n')).toHaveLength(1);
  await terminal.must(['mfa', 'disable', '--code', recoveryCodes[1] ?? ''], { stdin: newPassword });
  await terminal.must(['logout']);
  await terminal.must(login, { stdin: newPassword });

  // Closed permanently: the password opens nothing any more.
  expect(await terminal.type(['account', 'close'], { stdin: newPassword })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--yes'),
  });
  await terminal.must(['account', 'close', '--yes'], { stdin: newPassword });
  expect((await terminal.type(['whoami'])).exitCode).toBe(4);
  expect((await terminal.type(login, { stdin: newPassword })).exitCode).toBe(4);
});
