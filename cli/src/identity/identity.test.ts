import { createHash } from 'node:crypto';
import { key, model, refusal, session, user } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const keySet = { keys: [] };
const models = { object: 'list', data: [model] };
const logIn = (argv: string[] = []) => {
  gateway.script({ json: { ...user, session } }, { json: keySet }, { json: models });
  return terminal.type(['login', '--email', 'ada@example.com', ...argv], { stdin: 'seven grey herons at dawn\n' });
};

describe('login', () => {
  it('takes the password from a pipe, and keeps session, receipt keys and prices for the owner’s eyes only', async () => {
    expect(await logIn()).toEqual({ stdout: '', stderr: `Logged in to ${gateway.baseUrl} as ada@example.com.\n`, exitCode: 0 });
    expect(gateway.requests[0]?.body).toEqual({ email: 'ada@example.com', password: 'seven grey herons at dawn' });
    expect(gateway.requests[0]?.headers.authorization).toBeUndefined();
    expect(JSON.parse(terminal.file('credentials.json') ?? '')).toEqual({
      profiles: {
        default: { base_url: gateway.baseUrl, session_token: session.token, email: 'ada@example.com', expires_at: session.expires_at },
      },
    });
    expect(JSON.parse(terminal.file('default.vaas-keys.json') ?? '')).toEqual(keySet);
    expect(terminal.file('default.prices.json')).toContain('"input_tokens": "150000"');
    expect(gateway.requests.at(-2)).toMatchObject({ path: '/v1/prices' });
    expect([...terminal.privateFiles]).toEqual([...terminal.files.keys()]);
  });

  it('names the login that it replaces, and prints nothing for the same one', async () => {
    const old = { base_url: 'https://old.example.com', session_token: 'tgs_old', email: 'ada@example.com', expires_at: session.expires_at };
    terminal.files.set('/config/tallygate/credentials.json', JSON.stringify({ profiles: { default: old } }));
    const again = async () => {
      gateway.script({ json: { ...user, session } }, { json: keySet }, { json: models });
      return terminal.type(['login', '--email', 'ada@example.com'], { stdin: 'seven grey herons at dawn\n' });
    };
    expect((await again()).stderr).toContain(
      'It replaces the login to https://old.example.com as ada@example.com; `--profile NAME` keeps both.\n',
    );
    expect((await again()).stderr).not.toContain('the place of');
  });

  it('asks a person for both, and shows neither', async () => {
    gateway.script({ json: { ...user, session } }, { json: keySet }, { json: models });
    const { stdout, stderr } = await terminal.type(['login', '--password'], {
      isTty: true,
      typed: ['ada@example.com', 'seven grey herons at dawn'],
    });
    expect(stdout).toBe('');
    expect(stderr).toBe(`E-mail: Password: Logged in to ${gateway.baseUrl} as ada@example.com.\n`);
  });

  describe('with the company’s directory', () => {
    const directory = { name: 'Example Inc.', login_url: 'https://gateway.example.com/sign-in' };
    const methods = { password: true, directory, passkey: null };

    /** What the browser does once the page is open. */
    async function comeBack(answer: Record<string, string>): Promise<void> {
      await vi.waitUntil(() => terminal.openedPages.length > 0, { timeout: 60_000, interval: 5 });
      const { searchParams } = new URL(terminal.openedPages[0] ?? '');
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      expect([back.protocol, back.hostname, searchParams.get('code_challenge')?.length]).toEqual(['http:', '127.0.0.1', 43]);
      expect((await fetch(`${back.href}?code=tgo_forged&state=guessed`)).status).toBe(404);
      for (const [name, value] of Object.entries({ ...answer, state: searchParams.get('state') ?? '' })) back.searchParams.set(name, value);
      expect((await fetch(back)).status).toBe(200);
    }

    it('waits for the browser at a port of this computer, and takes the session with the verifier', async () => {
      gateway.script({ json: methods }, { json: { ...user, session } }, { json: keySet }, { json: models });
      const [{ stderr, exitCode }] = await Promise.all([terminal.type(['login', '--sso'], { isTty: true }), comeBack({ code: 'tgo_x' })]);
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Sign in with Example Inc. in the browser.\n')]);
      const { code, code_verifier } = Object(gateway.requests[1]?.body);
      const challenge = new URL(terminal.openedPages[0] ?? '').searchParams.get('code_challenge');
      expect([code, createHash('sha256').update(code_verifier).digest('base64url')]).toEqual(['tgo_x', challenge]);
    });

    it('says why somebody was refused, and where there is none', async () => {
      gateway.script({ json: methods });
      const answer = { error: 'access_denied', error_description: 'Your groups have no role here.' };
      const [{ stderr, exitCode }] = await Promise.all([terminal.type(['login', '--sso'], { isTty: true }), comeBack(answer)]);
      expect([exitCode === 0, stderr]).toEqual([false, expect.stringContaining('Your groups have no role here.')]);
      gateway.script({ json: { ...methods, directory: null } });
      expect((await terminal.type(['login', '--sso'], { isTty: true })).stderr).toContain('has no directory to sign in with');
    });
  });

  describe('in a browser', () => {
    const begun = {
      device_code: 'tgd_x',
      user_code: 'WDJB-MJHT',
      verification_uri: 'https://gateway.example.com/device',
      verification_uri_complete: 'https://gateway.example.com/device?user_code=WDJB-MJHT',
      expires_in: 600,
      interval: 0,
    };
    const notYet = (code: 'authorization_pending' | 'slow_down') => ({ ...refusal(code), headers: { 'retry-after': '0' } });

    it('is what a person at a terminal gets: the page is opened, the code is shown, and the session comes when it is approved', async () => {
      gateway.script({ json: begun }, notYet('authorization_pending'), notYet('slow_down'), { json: { ...user, session } });
      gateway.script({ json: keySet }, { json: models });
      const { stdout, stderr, exitCode } = await terminal.type(['login'], { isTty: true });
      expect([stdout, exitCode]).toEqual(['', 0]);
      expect(stderr).toContain('Your browser opens https://gateway.example.com/device. Compare this code:\n\n  WDJB-MJHT\n');
      expect(stderr).toContain(`Logged in to ${gateway.baseUrl} as ada@example.com.`);
      expect(terminal.openedPages).toEqual([begun.verification_uri_complete]);
      expect(gateway.requests[0]?.body).toEqual({ client_name: 'tallygate on ada-laptop' });
      expect(gateway.requests.slice(1, 4).map(({ body }) => body)).toEqual(Array(3).fill({ device_code: 'tgd_x' }));
      expect(terminal.file('credentials.json')).toContain(session.token);
    });

    it('opens no page without a terminal or with --no-browser, and prints its address instead', async () => {
      for (const [argv, isTty] of [
        [['login', '--device'], false],
        [['login', '--no-browser'], true],
      ] as const) {
        gateway.script({ json: begun }, { json: { ...user, session } }, { json: keySet }, { json: models });
        expect((await terminal.type(argv, { isTty })).stderr).toContain('Open https://gateway.example.com/device and enter this code');
      }
      expect(terminal.openedPages).toEqual([]);
    });

    it.each(['access_denied', 'expired_token'] as const)('ends with %s, exit code 4, and keeps nothing', async (code) => {
      gateway.script({ json: begun }, refusal(code));
      const { stderr, exitCode } = await terminal.type(['login'], { isTty: true });
      expect([exitCode, terminal.files.size]).toEqual([4, 0]);
      expect(stderr).toContain('next: Run `tallygate login` again');
    });
  });

  describe('with a keyring', () => {
    beforeEach(() => {
      terminal.keyring = new Map();
    });

    it('keeps the session there and not in the file, finds it again, and takes it out at logout', async () => {
      await logIn();
      expect([...(terminal.keyring?.values() ?? [])]).toEqual([session.token]);
      expect(terminal.file('credentials.json')).not.toContain(session.token);
      gateway.script({ json: user }, {});
      await terminal.type(['whoami'], {});
      expect(gateway.requests.at(-1)?.headers.authorization).toBe(`Bearer ${session.token}`);
      await terminal.type(['logout'], {});
      expect([terminal.keyring?.size, terminal.file('credentials.json')]).toEqual([0, '{\n  "profiles": {}\n}\n']);
    });

    it('leaves no older session behind when somebody logs in again, or moves to the file', async () => {
      await logIn();
      await logIn();
      expect(terminal.keyring?.size).toBe(1);
      await logIn(['--no-keyring']);
      expect([terminal.keyring?.size, terminal.file('credentials.json')]).toEqual([0, expect.stringContaining(session.token)]);
    });

    it('that is locked or missing is reported with the next step; an API key needs no keyring', async () => {
      await logIn();
      terminal.keyring = undefined;
      const { stderr, exitCode } = await terminal.type(['whoami'], {});
      expect([exitCode, stderr]).toEqual([4, expect.stringContaining('--no-keyring')]);
      gateway.script({ json: user });
      expect((await terminal.type(['whoami'])).exitCode).toBe(0);
      expect((await terminal.type(['logout'], {})).stderr).toContain('Forgotten here, but');
    });
  });

  it('warns when TALLYGATE_API_KEY has precedence over it', async () => {
    gateway.script({ json: { ...user, session } }, { json: keySet }, { json: models });
    const { stderr } = await terminal.type(['login', '--email', 'ada@example.com'], {
      stdin: 'seven grey herons at dawn',
      apiKey: 'tg_test_x',
    });
    expect(stderr).toContain('TALLYGATE_API_KEY is set and has precedence over this login');
  });

  it('exits with 4 and keeps nothing when the password is wrong', async () => {
    gateway.script(refusal('invalid_credentials'));
    const { exitCode } = await terminal.type(['login', '--email', 'ada@example.com'], { stdin: 'wrong' });
    expect(exitCode).toBe(4);
    expect(terminal.files.size).toBe(0);
  });

  describe('with a second factor', () => {
    const challenge = { mfa_required: true, challenge_token: 'tgc_x', expires_at: session.expires_at, methods: ['totp', 'recovery_code'] };
    const argv = ['login', '--email', 'ada@example.com'];

    it('takes the code from --code', async () => {
      gateway.script({ json: challenge }, { json: { ...user, session } }, { json: keySet }, { json: models });
      const { exitCode } = await terminal.type([...argv, '--code', '492039'], { stdin: 'seven grey herons at dawn' });
      expect(exitCode).toBe(0);
      expect(gateway.requests[1]).toMatchObject({ path: '/v1/users/login/mfa', body: { challenge_token: 'tgc_x', code: '492039' } });
      expect(terminal.file('credentials.json')).toContain(session.token);
    });

    it('asks a person, again after a slip', async () => {
      gateway.script(
        { json: challenge },
        refusal('invalid_mfa_code', { detail: 'Wrong.' }),
        { json: { ...user, session } },
        { json: keySet },
        { json: models },
      );
      const { stderr, exitCode } = await terminal.type(argv, { isTty: true, typed: ['seven grey herons at dawn', '000000', '492039'] });
      const question = 'Code from the authenticator app, or a recovery code: ';
      expect(stderr).toBe(`Password: ${question}Wrong.\n${question}Logged in to ${gateway.baseUrl} as ada@example.com.\n`);
      expect(exitCode).toBe(0);
    });

    it('does not ask when the challenge is dead', async () => {
      gateway.script({ json: challenge }, refusal('challenge_expired'));
      const { stderr, exitCode } = await terminal.type(argv, { isTty: true, typed: ['seven grey herons at dawn', '000000', '000000'] });
      expect(stderr).toContain('next: Run `tallygate login` again.');
      expect(exitCode).toBe(4);
    });

    it('exits with 4 and names --code where there is no terminal', async () => {
      gateway.script({ json: challenge });
      const { stderr, exitCode } = await terminal.type(argv, { stdin: 'seven grey herons at dawn' });
      expect(stderr).toMatch(/code: mfa_required\n {2}next: Repeat with --code/);
      expect(exitCode).toBe(4);
    });
  });

  it('advises what helps someone who is just logging in', async () => {
    gateway.script(refusal('invalid_credentials'));
    const { stderr } = await terminal.type(['login', '--email', 'ada@example.com'], { stdin: 'wrong' });
    expect(stderr).toContain('next: Check both, or set a new password with `tallygate password reset`.');
  });

  it('keeps the address without /v1, as it is shown everywhere', async () => {
    gateway.script({ json: { ...user, session } }, { json: keySet }, { json: models });
    const { stderr } = await terminal.type(['login', '--email', 'ada@example.com', '--base-url', `${gateway.baseUrl}/v1`], { stdin: 'x' });
    expect(stderr).toBe(`Logged in to ${gateway.baseUrl} as ada@example.com.\n`);
  });

  it('counts as done when only receipt keys and prices cannot be fetched', async () => {
    const sorry = refusal('internal_error', { headers: { 'x-should-retry': 'false' } });
    gateway.script({ json: { ...user, session } }, sorry, sorry);
    const { stderr, exitCode } = await terminal.type(['login', '--email', 'ada@example.com'], { stdin: 'seven grey herons at dawn' });
    expect(stderr).toMatch(/receipt keys could not be stored \(.+`tallygate receipts keys` fetches them later/);
    expect(stderr).toMatch(/published prices could not be stored \(.+`tallygate receipts keys` fetches them later/);
    expect(exitCode).toBe(0);
  });
});

describe('the stored session', () => {
  it('is used when the environment names no credential', async () => {
    await logIn();
    gateway.script({ json: [key] });
    expect((await terminal.type(['keys', 'list'], { baseUrl: undefined })).exitCode).toBe(0);
    expect(gateway.requests.at(-1)?.headers.authorization).toBe(`Bearer ${session.token}`);
  });

  it('gives way to the environment', async () => {
    await logIn();
    gateway.script({ json: [key] }, { json: [key] });
    await terminal.type(['keys', 'list'], { apiKey: 'tg_test_env' });
    await terminal.type(['keys', 'list'], { sessionToken: 'tgs_env' });
    expect(gateway.requests.slice(-2).map(({ headers }) => headers.authorization)).toEqual(['Bearer tg_test_env', 'Bearer tgs_env']);
  });

  it('is never sent to another address than the one it came from', async () => {
    await logIn();
    const { exitCode, stderr } = await terminal.type(['keys', 'list', '--base-url', 'http://127.0.0.1:9'], {});
    expect(exitCode).toBe(4);
    expect(stderr).toContain('Not logged in at http://127.0.0.1:9');
  });

  it('belongs to its profile', async () => {
    await logIn(['--profile', 'work']);
    expect((await terminal.type(['keys', 'list'], {})).exitCode).toBe(4);
    gateway.script({ json: [key] });
    expect((await terminal.type(['--profile', 'work', 'keys', 'list'], {})).exitCode).toBe(0);
    expect((await terminal.type(['--profile', '../evil', 'keys', 'list'], {})).exitCode).toBe(2);
    gateway.script({ json: [key] });
    expect((await terminal.type(['keys', 'list'], { variables: { TALLYGATE_PROFILE: 'work' } })).exitCode).toBe(0);
    expect((await terminal.type(['profiles', '--profile', 'work'], {})).stdout).toBe(
      `work\tyes\t${gateway.baseUrl}\tada@example.com\t${session.expires_at}\n`,
    );
  });
});

describe('logout', () => {
  it('ends the session at the gateway and forgets it', async () => {
    await logIn();
    gateway.script({ status: 204 });
    expect(await terminal.type(['logout'], {})).toEqual({ stdout: '', stderr: 'Logged out.\n', exitCode: 0 });
    expect(gateway.requests.at(-1)).toMatchObject({ path: '/v1/users/logout', headers: { authorization: `Bearer ${session.token}` } });
    expect(JSON.parse(terminal.file('credentials.json') ?? '')).toEqual({ profiles: {} });
    expect((await terminal.type(['logout'], {})).exitCode).toBe(4);
  });

  it('deletes it also when the gateway cannot be reached, with a note', async () => {
    await logIn();
    gateway.script(refusal('internal_error', { detail: 'Sorry.', headers: { 'x-should-retry': 'false' } }));
    const { stderr } = await terminal.type(['logout'], {});
    expect(stderr).toBe(`Forgotten here, but ${gateway.baseUrl} may still accept the session: Sorry.\n`);
    expect(JSON.parse(terminal.file('credentials.json') ?? '')).toEqual({ profiles: {} });
  });
});

describe('whoami', () => {
  it('shows whose credential is in use, and where', async () => {
    gateway.script({ json: user });
    const { stdout } = await terminal.type(['whoami'], { apiKey: 'tg_test_secret', isTty: true });
    expect(stdout).toBe(
      [
        'E-mail   ada@example.com',
        'Name     Ada Lovelace',
        'Role     member',
        'Plan     free',
        'MFA      off',
        `Account  ${user.account_id}`,
        `Gateway  ${gateway.baseUrl}`,
        '',
      ].join('\n'),
    );
  });
});

it('names the file and the way out when the stored credentials are broken', async () => {
  terminal.files.set('/config/tallygate/credentials.json', '{');
  const { stderr, exitCode } = await terminal.type(['whoami'], {});
  expect(stderr).toContain('/config/tallygate/credentials.json is not valid JSON.');
  expect(exitCode).toBe(1);
});
