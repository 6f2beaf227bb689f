import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { agentDocument, chunks, event, inferenceAnswerHeaders, session, user } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { policyLog } from '../../packages/receipts/scripts/policy-log.ts';
import { keySet, readVector } from '../testing/vectors.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

let gateway: StubGateway;
let home: string;
beforeEach(async () => {
  gateway = await startStubGateway();
  home = await mkdtemp(join(tmpdir(), 'tallygate-cli-'));
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

const models = { object: 'list', data: [] };

/** What was compiled once: the program starts in half the time. */
const kept = process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

/** Starts the real program, from its source, with a separate environment. */
function start(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['--conditions=tallygate-source', 'src/main.ts', ...argv], {
    cwd: ROOT,
    env: { ...kept, XDG_CONFIG_HOME: home, TALLYGATE_BASE_URL: gateway.baseUrl, TALLYGATE_KEYRING: 'off', ...env },
  });
  const exitCode = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return { child, exitCode, stdout: () => text(child.stdout), stderr: text(child.stderr) };
}

describe('the program', () => {
  it('looks for what hinders it from writing a file before it asks for anything to be made', async () => {
    const hindrances = { [home]: 'it is a folder', [join(home, 'none/a.png')]: `there is no folder ${join(home, 'none')}` };
    for (const [path, hindrance] of Object.entries(hindrances)) {
      const image = start(['image', 'A ledger.', '-o', path], { TALLYGATE_API_KEY: 'tg_test_secret' });
      expect(await image.stderr).toContain(`error: ${path} cannot be written: ${hindrance}.`);
    }
    expect(gateway.requests).toEqual([]);
  });

  it.each([
    ['the export of a fault at its end, to the end', ['receipts', 'verify', 'export.jsonl', '--keys', 'keys.json'], 3],
    ['a list, and is content with what was read', ['receipts', '--help'], 0],
  ])('whose output is not read works through %s', async (_, argv, code) => {
    const { receipt } = readVector('good/logged') as { receipt: { log: { checkpoint: string } } };
    const { checkpoint } = receipt.log;
    const head = { object: 'receipt_export', version: 'tallygate-export/v1', month: '2026-11', livemode: true, checkpoint, keys: [] };
    const lines = [head, ...Array.from({ length: 100 }, () => receipt), { object: 'receipt_export.end', receipts: 7, logged: 7 }];
    await writeFile(join(home, 'export.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await writeFile(join(home, 'keys.json'), keySet);
    const { child, exitCode } = start(argv.map((arg) => (/\.jsonl?$/.test(arg) ? join(home, arg) : arg)));
    child.stdout.destroy();
    expect(await exitCode).toBe(code);
  });

  it('reads the password from a pipe and keeps the session where only its owner can read it', async () => {
    gateway.script(
      { json: { ...user, session } },
      { json: JSON.parse(keySet) },
      { json: models },
      { json: agentDocument(null) },
      ...Array.from({ length: 3 }, () => ({ json: policyLog(null).page })),
      { json: user },
    );
    const login = start(['login', '--email', 'ada@example.com']);
    login.child.stdin.end('seven grey herons at dawn\n');
    expect(await login.stderr).toBe(`Logged in to ${gateway.baseUrl} as ada@example.com.\n`);
    expect(await login.exitCode).toBe(0);

    const folder = join(home, 'tallygate');
    expect((await readdir(folder)).sort()).toEqual(['credentials.json', 'default.prices.json', 'default.vaas-keys.json', 'logs']);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'credentials.json'))).mode & 0o777).toBe(0o600);

    const whoami = start(['whoami', '--json', 'email']);
    expect(await whoami.stdout()).toBe('{"email":"ada@example.com"}\n');
    expect(gateway.requests.at(-1)?.headers.authorization).toBe(`Bearer ${session.token}`);
  });

  it.skipIf(process.platform === 'win32')('makes readable credentials private, with one warning on stderr, and continues', async () => {
    const path = join(home, 'tallygate', 'credentials.json');
    const login = { base_url: gateway.baseUrl, session_token: session.token, email: 'ada@example.com', expires_at: session.expires_at };
    await mkdir(join(home, 'tallygate'));
    await writeFile(path, JSON.stringify({ profiles: { default: login } }));
    await chmod(path, 0o644);
    gateway.script({ json: user }, { json: user });
    const first = start(['whoami', '--json', 'email']);
    expect(await first.stdout()).toBe('{"email":"ada@example.com"}\n');
    expect(await first.stderr).toMatch(new RegExp(`^warning: others on this computer could read ${path}; it is yours alone now\\.`));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const second = start(['whoami', '--json', 'email']);
    expect([await second.stderr, await second.exitCode]).toEqual(['', 0]);
  });

  it.skipIf(process.platform !== 'linux')(
    'hands the session to secret-tool through a pipe, finds it there again, and falls back to the file where the tool fails',
    async () => {
      const tools = join(home, 'tools');
      const kept = join(home, 'kept');
      await mkdir(tools);
      const fake = `#!/bin/sh\necho "$@" >> ${home}/calls\ncase $1 in store) cat > ${kept};; lookup) cat ${kept};; clear) rm ${kept};; esac\n`;
      await writeFile(join(tools, 'secret-tool'), fake, { mode: 0o755 });
      const env = { TALLYGATE_KEYRING: '', PATH: `${tools}:/usr/bin:/bin` };
      const logIn = async () => {
        gateway.script({ json: { ...user, session } }, { json: { keys: [] } }, { json: models });
        const { child, exitCode } = start(['login', '--email', 'ada@example.com'], env);
        child.stdin.end('seven grey herons at dawn\n');
        expect(await exitCode).toBe(0);
        return readFile(join(home, 'tallygate', 'credentials.json'), 'utf8');
      };
      expect(await logIn()).not.toContain(session.token);
      expect(await readFile(kept, 'utf8')).toBe(session.token);
      expect(await readFile(join(home, 'calls'), 'utf8')).not.toContain(session.token);
      gateway.script({ json: user });
      expect(await start(['whoami', '--json', 'email'], env).exitCode).toBe(0);
      expect(gateway.requests.at(-1)?.headers.authorization).toBe(`Bearer ${session.token}`);

      await writeFile(join(tools, 'secret-tool'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      expect(await logIn()).toContain(session.token);
    },
  );

  // `script` of util-linux lends the program a terminal; elsewhere there is no such thing at hand.
  it.skipIf(!existsSync('/usr/bin/script') || process.platform !== 'linux')(
    'shows no character of a password, however fast it comes',
    async () => {
      gateway.script({ json: { ...user, session } }, { json: { keys: [] } }, { json: models });
      const command = `${process.execPath} --conditions=tallygate-source src/main.ts login --email ada@example.com`;
      const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
        cwd: ROOT,
        env: { XDG_CONFIG_HOME: home, TALLYGATE_BASE_URL: gateway.baseUrl, TALLYGATE_KEYRING: 'off', NO_COLOR: '1' },
      });
      let screen = '';
      for await (const piece of child.stdout) {
        screen += piece;
        if (screen === 'Password: ') child.stdin.write('seven grey herons at dawn\r');
      }
      expect(screen).toBe(`Password: \r\nLogged in to ${gateway.baseUrl} as ada@example.com.\r\n`);
      expect(gateway.requests[0]?.body).toEqual({ email: 'ada@example.com', password: 'seven grey herons at dawn' });
    },
  );

  it('hangs up and exits with 130 on Ctrl-C', async () => {
    gateway.script({ pieces: chunks('Hello', ' wor').slice(0, 3).map(event), headers: inferenceAnswerHeaders });
    const { child, exitCode, stderr } = start(['chat', 'Hi.'], { TALLYGATE_API_KEY: 'tg_test_secret' });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGINT');
    expect(await exitCode).toBe(130);
    expect(await stderr).toContain('Interrupted.');
    expect(await gateway.requests[0]?.ended).toBe('hung up');
  });

  it.skipIf(!existsSync('/dev/full'))('says so and fails where its output cannot be written', async () => {
    const command = `"${process.execPath}" --conditions=tallygate-source src/main.ts discovery --help > /dev/full`;
    const child = spawn('/bin/sh', ['-c', command], { cwd: ROOT });
    const exitCode = new Promise((resolve) => child.on('exit', resolve));
    expect(await text(child.stderr)).toMatch(/^error: The output cannot be written: ENOSPC.*\n {2}code: output_failed\n$/);
    expect(await exitCode).toBe(1);
  });

  it('ends without a complaint when its reader has seen enough', async () => {
    const { child, exitCode, stderr } = start(['--help']);
    child.stdout.destroy();
    expect(await exitCode).toBe(0);
    expect(await stderr).toBe('');
  });
});

it('reads the environment in process-world.ts and nowhere else', async () => {
  const files = (await readdir(join(ROOT, 'src'), { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const readers = [];
  for (const file of files)
    if (/\bprocess\.env\b|\benv } = process|env, .*} = process/.test(await readFile(join(ROOT, 'src', file), 'utf8'))) readers.push(file);
  expect(readers).toEqual(['process-world.ts']);
});
