import { KEY_ID, mfaStatus, refusal, user } from '@tallygate/sdk/testing/fixtures';
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

const session = { sessionToken: 'tgs_secret' };
const password = 'seven grey herons at dawn';
const person = { ...session, isTty: true };
const bodies = () => gateway.requests.map(({ body }) => body);

describe('mfa', () => {
  const recovery_codes = ['7k2m-9qxd-r4tv-h8wn', 'h8wn-7k2m-9qxd-r4tv'];
  const begun = { secret: 'JBSWY3DPEHPK3PXP', otpauth_uri: 'otpauth://totp/Tallygate:ada?secret=JBSWY3DPEHPK3PXP', qr_code: 'data:,' };

  it('shows a person the secret as text and as a QR code, asks again after a slip, and gives the recovery codes alone on stdout', async () => {
    gateway.script({ json: begun }, refusal('invalid_mfa_code', { detail: 'Check the clock.' }), {
      json: { ...mfaStatus, recovery_codes },
    });
    const { stdout, stderr } = await terminal.type(['mfa', 'enable'], { ...person, typed: [password, '000000', '492039'] });
    expect(stdout).toBe(`${recovery_codes.join('\n')}\n`);
    expect(stderr).toMatch(/^[█▀▄ \n]+Scan it/);
    expect(stderr).toContain(`${begun.otpauth_uri}\nPassword: Code from the authenticator app: Check the clock.\nCode from`);
    expect(bodies()).toEqual([undefined, { password, code: '000000' }, { password, code: '492039' }]);
  });

  it('takes two steps in a pipe and prompts for nothing', async () => {
    gateway.script({ json: begun }, { json: { ...mfaStatus, recovery_codes } });
    const first = await terminal.type(['mfa', 'enable'], session);
    expect(first).toMatchObject({ stdout: `${begun.otpauth_uri}\n`, stderr: expect.stringContaining('--code CODE'), exitCode: 0 });
    const second = await terminal.type(['mfa', 'enable', '--code', '492039', '--json', 'recovery_codes'], {
      ...session,
      stdin: `${password}\n`,
    });
    expect(bodies()[1]).toEqual({ password, code: '492039' });
    expect(JSON.parse(second.stdout)).toEqual({ recovery_codes });
  });

  it('shows whether it is on', async () => {
    gateway.script({ json: mfaStatus });
    const { stdout } = await terminal.type(['mfa', 'status']);
    expect(stdout).toBe('Second factor\ton\nOn since\t2026-11-21T08:00:00.000Z\nRecovery codes left\t10\n');
  });

  it('is switched off with the password from stdin and a code', async () => {
    gateway.script({ json: { ...mfaStatus, enabled: false } });
    await terminal.type(['mfa', 'disable', '--code', '492039'], { ...session, stdin: 'seven grey herons at dawn\n' });
    expect(bodies()).toEqual([{ password: 'seven grey herons at dawn', code: '492039' }]);
  });
});

it('removes another user’s second factor for an administrator', async () => {
  gateway.script({ status: 204 });
  const { stderr } = await terminal.type(['mfa', 'reset', KEY_ID], session);
  expect(stderr).toBe(`The second factor of ${KEY_ID} is off and their sessions have ended; a mail tells them.\n`);
  expect(gateway.requests).toMatchObject([{ method: 'DELETE', path: `/v1/admin/users/${KEY_ID}/mfa` }]);
});

describe('account update', () => {
  const sent = () => gateway.requests.map(({ method, path, body }) => [method, path, body]);

  it('changes or removes the name without a password', async () => {
    gateway.script({ json: { ...user, name: 'Ada King' } }, { json: { ...user, name: null } });
    const { stdout } = await terminal.type(['account', 'update', '--name', 'Ada King', '--json', 'name'], session);
    expect(JSON.parse(stdout)).toEqual({ name: 'Ada King' });
    await terminal.type(['account', 'update', '--no-name'], session);
    expect(sent()).toEqual([
      ['PATCH', '/v1/users/me', { name: 'Ada King' }],
      ['PATCH', '/v1/users/me', { name: null }],
    ]);
  });

  it('asks for the password with a new address, and reports that the link must be opened first', async () => {
    gateway.script({ json: user });
    const { stderr } = await terminal.type(['account', 'update', '--email', 'new@example.com'], { ...session, stdin: `${password}\n` });
    expect(sent()).toEqual([['PATCH', '/v1/users/me', { email: 'new@example.com', password }]]);
    expect(stderr).toContain('when the link is opened that is mailed to new@example.com');
  });

  it('exits with 2 when nothing is to be changed', async () => {
    expect([(await terminal.type(['account', 'update'], session)).exitCode, sent()]).toEqual([2, []]);
  });
});

describe('account close', () => {
  const me = { json: { ...user, email: 'ada@example.com', mfa_enabled: false } };
  const withFactor = { json: { ...user, email: 'ada@example.com', mfa_enabled: true } };
  const sent = () => gateway.requests.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body]);

  it('closes after the address and the password are typed, and deletes the stored login', async () => {
    const credentials = '/config/tallygate/credentials.json';
    const login = { base_url: gateway.baseUrl, session_token: 'tgs_kept', email: 'ada@example.com', expires_at: '2027-01-01T00:00:00Z' };
    terminal.files.set(credentials, JSON.stringify({ profiles: { default: login, other: login } }));
    gateway.script(me, { status: 204 });
    const { stderr, exitCode } = await terminal.type(['account', 'close'], { isTty: true, typed: ['ada@example.com', password] });
    expect(stderr).toContain('It cannot be undone.\nType the e-mail address to go on: Password: The account of ada@example.com is closed');
    expect([exitCode, sent()]).toEqual([0, [['/v1/users/me/close', { password }]]]);
    expect(JSON.parse(terminal.file('credentials.json') ?? '')).toEqual({ profiles: { other: login } });
  });

  it('changes nothing when another address is typed', async () => {
    gateway.script(me);
    const { exitCode } = await terminal.type(['account', 'close'], { ...person, typed: ['eva@example.com', password] });
    expect([exitCode, sent()]).toEqual([2, []]);
  });

  it('prompts for nothing in a pipe: needs --yes, and --code with a second factor', async () => {
    gateway.script(me, withFactor, withFactor, { status: 204 });
    const stdin = `${password}\n`;
    expect((await terminal.type(['account', 'close'], { ...session, stdin })).exitCode).toBe(2);
    expect((await terminal.type(['account', 'close', '--yes'], { ...session, stdin })).exitCode).toBe(4);
    expect((await terminal.type(['account', 'close', '--yes', '--code', '492039'], { ...session, stdin })).exitCode).toBe(0);
    expect(sent()).toEqual([['/v1/users/me/close', { password, code: '492039' }]]);
  });

  it('asks for the code again after a slip', async () => {
    gateway.script(withFactor, refusal('invalid_mfa_code', { detail: 'Wrong.' }), { status: 204 });
    const { exitCode } = await terminal.type(['account', 'close', '--yes'], { ...person, typed: [password, '000000', '492039'] });
    expect([exitCode, sent().length]).toEqual([0, 2]);
  });
});

describe('password', () => {
  it('is changed with the old one and the new one from stdin, a line each', async () => {
    gateway.script({ status: 204 });
    const { exitCode } = await terminal.type(['password', 'change'], {
      ...session,
      stdin: 'seven grey herons at dawn\neight blue kettles at noon\n',
    });
    expect(exitCode).toBe(0);
    expect(bodies()).toEqual([{ current_password: 'seven grey herons at dawn', new_password: 'eight blue kettles at noon' }]);
  });

  it('is asked for twice when a person types a new one; nothing is sent when the two differ', async () => {
    const { stderr, exitCode } = await terminal.type(['password', 'change'], { ...person, typed: ['old', 'staple horse', 'stable horse'] });
    expect(stderr).toContain('error: The two passwords differ.');
    expect(exitCode).toBe(2);
    expect(bodies()).toEqual([]);
  });

  it.each(['', 'only the old one'])('exits with 2 when stdin has "%s"', async (stdin) => {
    const { stderr, exitCode } = await terminal.type(['password', 'change'], { ...session, stdin });
    expect(stderr).toContain('next: Pipe it in, one to a line.');
    expect(exitCode).toBe(2);
  });

  it('is reset in two steps: a mail, and the token of the mail', async () => {
    gateway.script({ status: 202, json: { accepted: true } }, { status: 204 });
    const { stderr } = await terminal.type(['password', 'reset', '--email', 'ada@example.com'], {});
    expect(stderr).toContain('If ada@example.com has an account');
    await terminal.type(['password', 'reset', '--token', 'tgr_x'], { stdin: 'eight blue kettles at noon\n' });
    expect(bodies()).toEqual([{ email: 'ada@example.com' }, { token: 'tgr_x', new_password: 'eight blue kettles at noon' }]);
  });
});

describe('sessions', () => {
  const one = (session_id: string, current: boolean) => ({
    session_id,
    current,
    created_at: '2026-11-01T09:00:00.000Z',
    last_used_at: '2026-11-21T07:59:00.000Z',
    expires_at: '2026-12-21T08:00:00.000Z',
    ip_address: '203.0.113.7',
    user_agent: 'tallygate-cli/0.1.0',
  });
  const other = KEY_ID.replace('ee77', 'ee78');
  const list = { json: { data: [one(KEY_ID, true), one(other, false)], has_more: false, next_cursor: null } };

  it('are listed with the one that asks marked', async () => {
    gateway.script(list);
    const { stdout } = await terminal.type(['sessions', 'list'], session);
    expect(stdout.split('\n').map((line) => line.split('\t').slice(0, 2))).toEqual([[KEY_ID, 'yes'], [other, ''], ['']]);
    expect(gateway.requests[0]?.headers['user-agent']).toMatch(/^tallygate-cli\/\d/);
  });

  it('end one by one, or all others at once', async () => {
    gateway.script({ status: 204 }, list, { status: 204 });
    await terminal.type(['sessions', 'revoke', KEY_ID], session);
    expect((await terminal.type(['sessions', 'revoke', '--others'], session)).stderr).toBe('Ended 1 session.\n');
    const ended = gateway.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
    expect(ended).toEqual([`/v1/users/me/sessions/${KEY_ID}`, `/v1/users/me/sessions/${other}`]);
  });

  it('are not ended without a word about which', async () => {
    expect((await terminal.type(['sessions', 'revoke'], session)).exitCode).toBe(2);
  });
});

describe('users create', () => {
  const argv = ['users', 'create', '--email', 'ada@example.com'];

  it('proves itself with the secret of the environment, never with one on the command line', async () => {
    gateway.script({ status: 201, json: user }, { status: 201, json: user });
    const stdin = 'seven grey herons at dawn\n';
    await terminal.type(argv, { stdin, variables: { TALLYGATE_INTERNAL_SECRET: 'a' } });
    await terminal.type([...argv, '--internal-secret-env', 'OTHER'], { stdin, variables: { OTHER: 'b' } });
    expect(gateway.requests.map(({ headers }) => headers['x-internal-secret'])).toEqual(['a', 'b']);
    expect(gateway.requests[0]).toMatchObject({
      path: '/v1/users',
      body: { email: 'ada@example.com', password: 'seven grey herons at dawn' },
    });
  });

  it('exits with 4 and explains where the secret is when there is none', async () => {
    const { stderr, exitCode } = await terminal.type(argv, { stdin: 'seven grey herons at dawn' });
    expect(stderr).toContain('error: TALLYGATE_INTERNAL_SECRET is not set.');
    expect(exitCode).toBe(4);
  });
});

it('confirms an address with the token of the mail, or has it sent again', async () => {
  gateway.script({ status: 204 }, { status: 202, json: { accepted: true } });
  await terminal.type(['verify-email', 'tgv_x'], {});
  await terminal.type(['verify-email', '--resend', 'ada@example.com'], {});
  expect(bodies()).toEqual([{ token: 'tgv_x' }, { email: 'ada@example.com' }]);
  expect((await terminal.type(['verify-email'], {})).exitCode).toBe(2);
});
