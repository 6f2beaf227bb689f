import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type FakeUpstream, type ScriptedToolCall, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const run = promisify(execFile);
const NOTE = 'The heron lands at noon.';
const MISSING = 'nothing-at-all';
const CHAT = 'gpt-4o-mini';

interface Cli {
  readonly name: string;
  /** The variable that may name a program that is not on the path; nothing is installed for these tests. */
  readonly variable: string;
  readonly program: string;
  readonly model: string;
  args(model: string, prompt: string): readonly string[];
  env(url: string, key: string): Readonly<Record<string, string>>;
  /** Its settings by their path in the home folder, as the guide of clients has them. */
  settings?(url: string): Readonly<Record<string, string>>;
  /** How it reads a file of its folder; one that has no tools sends it along. */
  reading?(file: string): ScriptedToolCall;
}

const continueSettings = (url: string, model: string): string =>
  `name: Tallygate
version: 1.0.0
schema: v1
models:
  - name: ${model}
    provider: openai
    model: ${model}
    apiBase: ${url}/v1
    apiKey: \${{ secrets.TALLYGATE_API_KEY }}
    roles: [chat, edit, apply]
`;

const CLIS: readonly Cli[] = [
  {
    ...{ name: 'Claude Code', variable: 'CLAUDE', program: 'claude', model: 'claude-sonnet-4-6' },
    args: (model, prompt) => ['-p', prompt, '--model', model],
    env: (url, key) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
    reading: (file) => ({ name: 'Read', arguments: JSON.stringify({ file_path: file }) }),
  },
  {
    ...{ name: 'Gemini CLI', variable: 'GEMINI', program: 'gemini', model: 'gemini-3.5-flash' },
    args: (model, prompt) => ['-p', prompt, '-m', model, '--skip-trust'],
    env: (url, key) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key }),
    settings: () => ({ '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' }),
    reading: (file) => ({ name: 'read_file', arguments: JSON.stringify({ file_path: file }) }),
  },
  {
    ...{ name: 'opencode', variable: 'OPENCODE', program: 'opencode', model: CHAT },
    args: (model, prompt) => ['run', '-m', `tallygate/${model}`, prompt],
    env: (_, key) => ({ TALLYGATE_API_KEY: key }),
    // Without limits: it asks for 32,000 tokens, which is more than the model gives.
    settings: (url) => {
      const options = { baseURL: `${url}/v1`, apiKey: '{env:TALLYGATE_API_KEY}' };
      const models = { [CHAT]: {}, [MISSING]: {} };
      const tallygate = { npm: '@ai-sdk/openai-compatible', name: 'Tallygate', options, models };
      return { '.config/opencode/opencode.json': JSON.stringify({ provider: { tallygate } }) };
    },
    reading: (file) => ({ name: 'read', arguments: JSON.stringify({ filePath: file }) }),
  },
  {
    ...{ name: 'Continue', variable: 'CONTINUE', program: 'cn', model: CHAT },
    args: (model, prompt) => ['--config', `../${model}.yaml`, '-p', prompt],
    env: (_, key) => ({ TALLYGATE_API_KEY: key }),
    settings: (url) => Object.fromEntries([CHAT, MISSING].map((model) => [`${model}.yaml`, continueSettings(url, model)])),
    reading: (file) => ({ name: 'Read', arguments: JSON.stringify({ filepath: file }) }),
  },
  {
    ...{ name: 'aider', variable: 'AIDER', program: 'aider', model: CHAT },
    args: (model, prompt) => {
      const quietly = [
        '--yes-always',
        '--no-git',
        '--no-check-update',
        '--no-show-release-notes',
        '--no-show-model-warnings',
        '--no-analytics',
      ];
      return ['--model', `openai/${model}`, '--edit-format', 'diff', '--file', 'note.txt', ...quietly, '-m', prompt];
    },
    env: (url, key) => ({ OPENAI_API_BASE: `${url}/v1`, OPENAI_API_KEY: key }),
  },
];
const programOf = ({ variable, program }: Cli): string => process.env[variable] ?? program;
const isThere = (cli: Cli): boolean => spawnSync(programOf(cli), ['--version']).status === 0;
const there = new Set(CLIS.filter(isThere));

let folder = '';
let upstream: FakeUpstream | undefined;
let gateway: Gateway | undefined;
let account: Account;
let live = '';
beforeAll(async () => {
  if (there.size === 0) return;
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'openai', base_url: upstream.url }],
    env: {
      ...{ ANTHROPIC_API_KEY: 'anthropic-secret-key', ANTHROPIC_BASE_URL: upstream.url },
      ...{ GEMINI_API_KEY: 'google-secret-key', GOOGLE_BASE_URL: new URL('/v1beta', upstream.url).href },
    },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  live = (await account.createKey()).key;
  folder = mkdtempSync(join(tmpdir(), 'tallygate-clis-'));
  mkdirSync(join(folder, 'work'));
  for (const cli of there) {
    for (const [path, text] of Object.entries(cli.settings?.(gateway.url) ?? {})) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  }
});
beforeEach(() => {
  upstream?.reset();
  if (folder !== '') writeFileSync(note(), `${NOTE}\n`);
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
  if (folder !== '') rmSync(folder, { recursive: true });
});

const note = (): string => join(folder, 'work/note.txt');

/** Everything that it prints, and whether it says that it went well. */
async function ask(cli: Cli, key: string, { model = cli.model, prompt = 'Say hello.' } = {}) {
  const { PATH } = process.env;
  const env = { PATH, HOME: folder, ...cli.env(gateway?.url ?? '', key) };
  const running = run(programOf(cli), [...cli.args(model, prompt)], { cwd: join(folder, 'work'), env, timeout: 60_000 });
  running.child.stdin?.end();
  return running.then(
    ({ stdout, stderr }) => ({ isWell: true, said: stdout + stderr }),
    (failed: { stdout: string; stderr: string }) => ({ isWell: false, said: failed.stdout + failed.stderr }),
  );
}

describe.each(CLIS)('$name, where it is installed', (cli) => {
  const inIt = test.runIf(there.has(cli));

  inIt('answers from a provider and from the sandbox', async () => {
    expect(await ask(cli, live)).toMatchObject({ isWell: true, said: expect.stringContaining('tok0 tok1') });
    const { isWell, said } = await ask(cli, gateway?.bootstrap.test_api_key ?? '');
    expect([isWell, said]).toEqual([true, expect.stringMatching(/\S/)]);
  });

  test.runIf(there.has(cli) && cli.reading)('runs its own tool, and shows the model what it gave back', async () => {
    const call = cli.reading?.(note()) ?? { name: '', arguments: '' };
    // It asks for other things too, a title of the session for one.
    upstream?.script(({ body }) => {
      const asked = JSON.stringify(body);
      return asked.includes(`"${call.name}"`) && !asked.includes('heron') ? { text: '', toolCalls: [call] } : undefined;
    });
    expect(await ask(cli, live, { prompt: 'What does note.txt say?' })).toMatchObject({ isWell: true });
    expect(upstream?.requests.some(({ body }) => JSON.stringify(body).includes(NOTE))).toBe(true);
  });

  inIt('says what is wrong with a model that nobody has, and with a cap that is reached', async () => {
    expect((await ask(cli, live, { model: MISSING })).said).toMatch(/There is no model.*nothing-at-all/s);
    const { key } = await account.createKey({ monthly_cap_usd: '0.00000001' });
    expect((await ask(cli, key)).said).toMatch(/cap|budget|402/i);
    expect(upstream?.requests).toHaveLength(0);
  });
});

const aider = CLIS.find(({ name }) => name === 'aider');
test.runIf(aider && there.has(aider))('aider edits a file as the model says, where it is installed', async () => {
  if (!aider) return;
  const edit = ['<<<<<<< SEARCH', NOTE, '=======', 'The heron lands at dusk.', '>>>>>>> REPLACE'].join('\n');
  upstream?.script({ text: `note.txt\n\`\`\`text\n${edit}\n\`\`\`\n` });
  expect(await ask(aider, live, { prompt: 'It lands at dusk.' })).toMatchObject({ isWell: true });
  expect(readFileSync(note(), 'utf8')).toBe('The heron lands at dusk.\n');
});
