import { createdKey, KEY_ID, key, PLAIN_KEY, refusal } from '@tallygate/sdk/testing/fixtures';
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

describe('keys create', () => {
  const session = { sessionToken: 'tgs_secret' };

  it('prints the plain key once and alone on stdout, everything else on stderr', async () => {
    gateway.script({ status: 201, json: createdKey });
    expect(await terminal.type(['keys', 'create', '--name', 'production', '--cap', '25'], session)).toEqual({
      stdout: `${PLAIN_KEY}\n`,
      stderr: `Created "production" (${KEY_ID}). Store the key now: it is not shown again.\n`,
      exitCode: 0,
    });
    expect(gateway.requests[0]?.body).toEqual({ name: 'production', livemode: true, monthly_cap_usd: '25' });
    expect(gateway.requests[0]?.headers.authorization).toBe('Bearer tgs_secret');
  });

  it('sends the options', async () => {
    gateway.script({ status: 201, json: createdKey });
    const scopes = 'inference,keys:write';
    await terminal.type(['keys', 'create', '--name', 'ci', '--test', '--scopes', scopes, '--expires', '2027-01-01T00:00:00Z'], session);
    expect(gateway.requests[0]?.body).toEqual({
      name: 'ci',
      livemode: false,
      scopes: ['inference', 'keys:write'],
      expires_at: '2027-01-01T00:00:00Z',
    });
  });

  it('uses the session where both a key and a session are there, because a key cannot make keys', async () => {
    gateway.script({ status: 201, json: createdKey });
    await terminal.type(['keys', 'create', '--name', 'production'], { ...session, apiKey: 'tg_test_secret' });
    expect(gateway.requests[0]?.headers.authorization).toBe('Bearer tgs_secret');
  });

  it('exits with 4 and the way to log in when there is only a key', async () => {
    gateway.script(refusal('session_required', { detail: 'API keys cannot do this.' }));
    expect(await terminal.type(['keys', 'create', '--name', 'production'])).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('next: An API key cannot do this: run `tallygate login`.'),
      exitCode: 4,
    });
  });

  it('puts the secret into the JSON where it is asked for', async () => {
    gateway.script({ status: 201, json: createdKey });
    const { stdout } = await terminal.type(['keys', 'create', '--name', 'production', '--json', 'key,key_id'], session);
    expect(stdout).toBe(`{"key":"${PLAIN_KEY}","key_id":"${KEY_ID}"}\n`);
  });

  it('lists the JSON fields without making a key', async () => {
    const { stdout, exitCode } = await terminal.type(['keys', 'create', '--json'], session);
    expect(stdout).toMatch(/^key_id\nname\n[\s\S]*\nkey\n$/);
    expect(exitCode).toBe(0);
    expect(gateway.requests).toHaveLength(0);
  });

  it.each([
    [['keys', 'create'], "required option '--name <name>' not specified"],
    [['keys', 'create', '--name', 'x', '--cap', '25 USD'], 'Expected an amount in USD such as 25 or 0.50.'],
    [['keys', 'rotate'], "missing required argument 'key'"],
    [['keys', 'rotate', KEY_ID, '--grace', '-1'], 'Expected a duration such as 30m, 1h or 7d.'],
    [['keys', 'rotate', KEY_ID, '--grace', '8d'], 'Expected 7d at most.'],
    [['keys', 'update', KEY_ID], 'There is nothing to change.'],
    [['keys', 'update', KEY_ID, '--rmp', '5'], 'Did you mean --rpm?'],
    [['keys', 'rotate', '--what'], 'Run `tallygate keys rotate --help`.'],
    [['keys', 'lst'], 'Did you mean list?'],
    [['keys'], 'A command is missing.'],
  ])('exits with 2 for %j', async (argv, sentence) => {
    const { stdout, stderr, exitCode } = await terminal.type(argv, session);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toContain(sentence);
  });
});

describe('keys list', () => {
  const rogue = { ...key, name: 'evil\u001b[2J\tname', monthly_cap_usd: null, last_used_at: null };

  it('prints an aligned table for people, and no escape sequence that a name might hold', async () => {
    gateway.script({ json: [key, rogue] });
    const { stdout } = await terminal.type(['keys', 'list'], { apiKey: 'tg_test_secret', isTty: true });
    expect(stdout).toBe(
      [
        'ID                                    NAME          PREFIX                STATUS  CAP USD  LAST USED',
        '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77  production    tg_live_4f0Zk1x8QbRm  active       25  2026-11-21T07:59:00.000Z',
        '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77  evil[2J name  tg_live_4f0Zk1x8QbRm  active        -  -',
        '',
      ].join('\n'),
    );
  });

  it('prints tab-separated lines without a header into a pipe', async () => {
    gateway.script({ json: [key] });
    const { stdout } = await terminal.type(['keys', 'list']);
    expect(stdout).toBe(`${KEY_ID}\tproduction\ttg_live_4f0Zk1x8QbRm\tactive\t25\t2026-11-21T07:59:00.000Z\n`);
  });

  it('prints the wanted fields as JSON', async () => {
    gateway.script({ json: [key] });
    const { stdout } = await terminal.type(['keys', 'list', '--json', 'name,scopes']);
    expect(stdout).toBe('[{"name":"production","scopes":["inference","account:read"]}]\n');
  });

  it('fits the terminal by shortening words, never the id that is copied, a number, or anything in a pipe', async () => {
    gateway.script({ json: [key] }, { json: [key] }, { json: [] });
    const narrow = { apiKey: 'tg_test_secret', isTty: true, columns: 80 };
    const { stdout } = await terminal.type(['keys', 'list'], narrow);
    expect(stdout.split('\n')).toEqual([
      'ID                                    NAME        STATUS  CAP USD  LAST USED',
      `${KEY_ID}  production  active       25  2026-11-21`,
      '',
    ]);
    expect((await terminal.type(['keys', 'list'], { ...narrow, isTty: false })).stdout).toContain('\ttg_live_4f0Zk1x8QbRm\t');
    expect((await terminal.type(['keys', 'list'], narrow)).stdout).toBe('None.\n');
  });

  it('is bold on a terminal with colours and plain without', async () => {
    gateway.script({ json: [key] }, { json: [key] });
    const circumstances = { apiKey: 'tg_test_secret', isTty: true };
    expect((await terminal.type(['keys', 'list'], { ...circumstances, hasColor: true })).stdout).toContain('\u001b[1m');
    expect((await terminal.type(['keys', 'list'], circumstances)).stdout).not.toContain('\u001b');
  });

  it('exits with 4 when no user is logged in, before anything is sent', async () => {
    expect(await terminal.type(['keys', 'list'], {})).toEqual({
      stdout: '',
      stderr: `error: Not logged in at ${gateway.baseUrl}.\n  code: not_logged_in\n  next: Run \`tallygate login\`, or set TALLYGATE_API_KEY.\n`,
      exitCode: 4,
    });
    expect(gateway.requests).toHaveLength(0);
  });
});

describe('keys rotate', () => {
  it('prints the new secret once, and until when the old one works', async () => {
    gateway.script({ json: { ...createdKey, previous_secret_expires_at: '2026-11-21T09:00:00.000Z' } });
    expect(await terminal.type(['keys', 'rotate', KEY_ID, '--grace', '3600'])).toEqual({
      stdout: `${PLAIN_KEY}\n`,
      stderr: `Rotated "production" (${KEY_ID}). The old secret works until 2026-11-21T09:00:00.000Z. Store the key now: it is not shown again.\n`,
      exitCode: 0,
    });
    expect(gateway.requests[0]?.body).toEqual({ grace_seconds: 3600 });
  });
});

describe('keys revoke', () => {
  it('prints the revoked key', async () => {
    gateway.script({ status: 204 });
    expect(await terminal.type(['keys', 'revoke', KEY_ID])).toEqual({ stdout: '', stderr: `Revoked ${KEY_ID}.\n`, exitCode: 0 });
    expect(gateway.requests[0]).toMatchObject({ method: 'DELETE', path: `/v1/keys/${KEY_ID}` });
  });

  it.each([
    ['y', [], `Revoke ${KEY_ID} permanently? [y/N] Revoked ${KEY_ID}.\n`, 0, 1],
    ['n', [], `Revoke ${KEY_ID} permanently? [y/N] error: Nothing was changed.\n  code: not_confirmed\n`, 1, 0],
    ['', ['--yes'], `Revoked ${KEY_ID}.\n`, 0, 1],
  ])('asks a person first: "%s" %j', async (reply, options, said, exitCode, requests) => {
    gateway.script({ status: 204 });
    const asked = await terminal.type(['keys', 'revoke', KEY_ID, ...options], { apiKey: 'tg_test_secret', isTty: true, typed: [reply] });
    expect(asked).toEqual({ stdout: '', stderr: said, exitCode });
    expect(gateway.requests).toHaveLength(requests);
  });

  it('exits with 1 and the service’s sentence, code and request id for a key that is not there', async () => {
    gateway.script(refusal('not_found', { detail: 'No such API key.' }));
    const { stderr, exitCode } = await terminal.type(['keys', 'revoke', KEY_ID]);
    expect(stderr).toMatch(/^error: No such API key\.\n {2}code: not_found, request: req_\w+\n {2}next: Check the id/);
    expect(exitCode).toBe(1);
  });
});

describe('a key that is named', () => {
  const old = { ...key, key_id: KEY_ID.replace('ee77', 'ee78'), prefix: 'tg_live_OldOldOldOld', status: 'revoked' as const };
  const paths = () => gateway.requests.map(({ path }) => path);

  it.each(['production', 'tg_live_4f0Zk1x8QbRm'])('is found as %s, among those that work', async (name) => {
    gateway.script({ json: [old, key] }, { json: key });
    const { stdout } = await terminal.type(['keys', 'get', name]);
    expect(stdout).toContain('Rate limits\tthe plan’s\n');
    expect(paths()).toEqual(['/v1/keys', `/v1/keys/${KEY_ID}`]);
  });

  it('is a revoked one where no other has the name', async () => {
    gateway.script({ json: [old] }, { json: old });
    await terminal.type(['keys', 'get', 'production']);
    expect(paths()[1]).toBe(`/v1/keys/${old.key_id}`);
  });

  it('is never guessed where two have the name', async () => {
    gateway.script({ json: [{ ...old, status: 'active' }, key] });
    const { stderr, exitCode } = await terminal.type(['keys', 'revoke', 'production']);
    expect(stderr).toContain(`error: 2 keys are named "production".`);
    expect(stderr).toContain(`${KEY_ID} (tg_live_4f0Zk1x8QbRm)`);
    expect({ exitCode, sent: paths() }).toEqual({ exitCode: 2, sent: ['/v1/keys'] });
  });

  it.each(['prodcution', 'prodution', 'productionn', 'prod'])('is suggested for %s', async (name) => {
    gateway.script({ json: [key] });
    const { stderr, exitCode } = await terminal.type(['keys', 'get', name]);
    expect(stderr).toContain('next: Did you mean "production"?');
    expect(exitCode).toBe(1);
  });
});

describe('keys update', () => {
  const RAW = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
  const PEM = `-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n`;
  const update = async (...options: string[]) => {
    gateway.script({ json: key });
    await terminal.type(['keys', 'update', KEY_ID, ...options]);
    return gateway.requests[0]?.body;
  };

  it('sends what is named and nothing else', async () => {
    const options = [
      '--model',
      'gpt-4o-mini,gpt-5',
      '--model',
      'gpt-5-mini',
      '--rpm',
      '60',
      '--expires',
      '1d',
      '--metadata',
      'team=search',
    ];
    expect(await update(...options)).toEqual({
      allowed_models: ['gpt-4o-mini', 'gpt-5', 'gpt-5-mini'],
      rate_limits: { requests_per_minute: 60 },
      expires_at: '2026-11-22T08:00:00.000Z',
      metadata: { team: 'search' },
    });
  });

  it('takes away what a word takes away', async () => {
    const options = [
      '--model',
      'all',
      '--endpoint',
      'all',
      '--tpm',
      'plan',
      '--expires',
      'never',
      '--metadata',
      'none',
      '--signing-key',
      'none',
    ];
    expect(await update(...options, '--no-require-signature')).toEqual({
      allowed_models: null,
      allowed_endpoints: null,
      rate_limits: { tokens_per_minute: null },
      expires_at: null,
      metadata: {},
      signing_public_key: null,
      require_signature: false,
    });
  });

  it.each([RAW, 'key.pem'])('takes a signing key as %s', async (given) => {
    terminal.files.set('key.pem', PEM);
    expect(await update('--signing-key', given, '--require-signature')).toEqual({ signing_public_key: RAW, require_signature: true });
  });

  it('explains how to create a signing key where the file has none', async () => {
    terminal.files.set('key.pem', 'hello');
    const { stderr, exitCode } = await terminal.type(['keys', 'update', KEY_ID, '--signing-key', 'key.pem']);
    expect(stderr).toContain('next: Make one with `openssl genpkey -algorithm ed25519');
    expect(exitCode).toBe(1);
  });
});
