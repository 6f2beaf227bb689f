// Fuzzes every operation of openapi.json with Schemathesis (PyPI), with API keys and with a session, each operation by itself and with what
// earlier answers named, against a separate gateway with the sandbox and a scripted provider of each kind behind it:
// `npm run fuzz -- --minutes 60`. It fails on an answer that the document does not declare, on a 5xx other than a declared 503, on a gateway
// that ended, and on memory that does not come back.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Gateway } from '../acceptance/src/gateway.ts';
import { SCOPES } from '../contract/src/index.ts';
import { startFakeUpstream } from '../packages/fake-upstream/src/index.ts';
import { inspectorOf, residentMb } from './resident-memory.ts';

const SCHEMATHESIS = 'schemathesis==4.32.5';
const root = join(import.meta.dirname, '..');
/** What ends the credential that it is called with: fuzzed by itself, at the end. */
const ENDS_THE_CREDENTIAL = ['/v1/users/logout', '/v1/users/me/close', '/v1/users/me/password', '/v1/users/me/sessions', '/v1/users/mfa'];
/** Memory that a process may keep: caches that fill up, code that is compiled. */
const MOST_KEPT_MB = 60;
/** Characters. */
const OUTPUT_SHOWN = 8_000;

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '4' }, seed: { type: 'string' } } });
const seconds = Number(values.minutes) * 60;
if (!(seconds > 0)) throw new Error('--minutes takes a number above zero');

const program = schemathesis();
const home = mkdtempSync(join(tmpdir(), 'tallygate-fuzz-'));
const upstream = await startFakeUpstream({ record: false });
const gateway = await Gateway.start({
  providers: [{ name: 'openai', base_url: upstream.url, responses: true }],
  env: {
    ...{ LOG_LEVEL: 'warn', NODE_OPTIONS: '--inspect=127.0.0.1:0' },
    ...{ ANTHROPIC_API_KEY: 'anthropic-secret-key', ANTHROPIC_BASE_URL: upstream.url },
    ...{ GEMINI_API_KEY: 'google-secret-key', GOOGLE_BASE_URL: new URL('/v1beta', upstream.url).href },
  },
});
let failures = 0;
try {
  const { admin_email: email, admin_password: password } = gateway.bootstrap;
  const session = await login(email, password);
  const warm = { 'a test key': await createKey(session, false), 'a session': session, 'a live key': await createKey(session, true) };
  // What is loaded once is there before memory is measured.
  for (const [name, credential] of Object.entries(warm)) await fuzz(name, credential, seconds / 20);
  const before = await memory();
  for (const [name, credential] of Object.entries(warm)) {
    await fuzz(name, credential, (seconds * 11) / 60);
    await fuzz(`${name}, with what it made`, credential, (seconds * 5) / 60, { phases: 'stateful' });
  }
  const after = await memory();
  report(after - before <= MOST_KEPT_MB, `memory: ${before} MB before, ${after} MB after`);
  await fuzz('a session that may end', await login(email, password), seconds / 20, { only: ENDS_THE_CREDENTIAL });
  report(gateway.process.isRunning, 'the gateway is the process that it was');
} finally {
  await gateway.remove();
  await upstream.close();
  rmSync(home, { recursive: true, force: true });
}
process.stdout.write(failures === 0 ? '\nNothing found.\n' : `\n${failures} checks failed.\n`);
process.exitCode = failures === 0 ? 0 : 1;

function report(passes: boolean, what: string): void {
  if (!passes) failures += 1;
  process.stdout.write(`${passes ? 'ok  ' : 'FAIL'} ${what}\n`);
}

/** In a virtual environment beside the workspace, made by the first run. */
function schemathesis(): string {
  const folder = join(root, '.tools', SCHEMATHESIS.replace('==', '-'));
  const found = join(folder, 'bin', 'schemathesis');
  if (existsSync(found)) return found;
  for (const [command, args] of [
    ['python3', ['-m', 'venv', folder]],
    [join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', SCHEMATHESIS]],
  ] as const) {
    const { status } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
    if (status === 0) continue;
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`${SCHEMATHESIS} could not be installed: it takes Python 3.10 or newer with venv, and PyPI.`);
  }
  return found;
}

interface Part {
  /** These paths; left out, all that do not end the credential. */
  readonly only?: readonly string[];
  /** `stateful` asks for what earlier answers named; left out, each operation by itself. */
  readonly phases?: string;
}

async function fuzz(name: string, credential: string, forSeconds: number, part: Part = {}): Promise<void> {
  const { only, phases = 'examples,coverage,fuzzing' } = part;
  // A declared 503 is an answer; every other 5xx is a fault.
  writeFileSync(join(home, 'schemathesis.toml'), '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", 503]\n');
  const chosen = `^(${ENDS_THE_CREDENTIAL.join('|')})(/|$)`;
  const args = [
    ...['run', join(root, 'contract', 'openapi.json'), '--url', gateway.url, '--header', `Authorization: Bearer ${credential}`],
    ...['--max-time', String(Math.ceil(forSeconds)), '--workers', '2', '--continue-on-failure', '--phases', phases],
    ...['--checks', 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance'],
    ...['--request-timeout', '60', '--suppress-health-check', 'all', '--warnings', 'off', '--no-color'],
    ...(values.seed === undefined ? [] : ['--seed', values.seed]),
    ...[only ? '--include-path-regex' : '--exclude-path-regex', chosen],
    // YAML is answered as text: the tool parses it and finds no string.
    ...(only ? [] : ['--exclude-path', '/openapi.yaml']),
    ...['--report-json-path', join(home, 'report.json')],
  ];
  const child = spawn(program, args, { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const ending = once(child, 'close');
  await ending;
  if (!gateway.process.isRunning)
    throw new Error(`The gateway ended while it was asked with ${name}. The last that it wrote:\n${gateway.output.slice(-OUTPUT_SHOWN)}`);
  const cases = /(\d+) generated/.exec(output)?.[1] ?? '0';
  const hasFound = /\n=+ FAILURES =+\n/.test(output) || cases === '0';
  report(!hasFound, `${name}: ${cases} requests`);
  if (hasFound) process.stdout.write(output.slice(output.indexOf('FAILURES')));
}

/** Resident after a rest, MB. */
async function memory(): Promise<number> {
  await sleep(5_000);
  return residentMb(inspectorOf(gateway.output));
}

async function login(email: string, password: string): Promise<string> {
  const { session } = (await post('/v1/users/login', { email, password })) as { session: { token: string } };
  return session.token;
}

/** Of every scope: a refusal for a scope is decided before anything that the operation does. */
async function createKey(session: string, livemode: boolean): Promise<string> {
  const { key } = (await post('/v1/keys', { name: 'fuzz', livemode, scopes: SCOPES }, session)) as { key: string };
  return key;
}

async function post(path: string, body: object, session?: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json', ...(session !== undefined && { authorization: `Bearer ${session}` }) };
  const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
