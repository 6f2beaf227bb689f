import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const run = promisify(execFile);
/** `CODEX` may name a program that is not on the path; nothing is installed for this test. */
const codex = process.env['CODEX'] ?? 'codex';
const hasCodex = spawnSync(codex, ['--version']).status === 0;

let folder = '';
let upstream: FakeUpstream | undefined;
let gateway: Gateway | undefined;
beforeAll(async () => {
  if (!hasCodex) return;
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'openai', base_url: upstream.url, responses: true }] });
  folder = mkdtempSync(join(tmpdir(), 'tallygate-codex-'));
  mkdirSync(join(folder, 'home'));
  // As docs/start/openai-sdk.md has it.
  writeFileSync(
    join(folder, 'home/config.toml'),
    [
      'model_provider = "tallygate"',
      '[model_providers.tallygate]',
      'name = "Tallygate"',
      `base_url = "${gateway.url}/v1"`,
      'env_key = "OPENAI_API_KEY"',
      'wire_api = "responses"',
    ].join('\n'),
  );
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
  if (folder !== '') rmSync(folder, { recursive: true });
});

/** What the agent says at the end, and what it tells of on the way. */
async function exec(key: string, prompt = 'Say hello.') {
  const { PATH } = process.env;
  const env = { PATH, HOME: folder, CODEX_HOME: join(folder, 'home'), OPENAI_API_KEY: key };
  const running = run(codex, ['exec', '--skip-git-repo-check', '--sandbox', 'read-only', prompt], { cwd: folder, env });
  running.child.stdin?.end();
  const { stdout, stderr } = await running.catch((failed: { stdout: string; stderr: string }) => failed);
  return { said: stdout, told: stderr };
}

describe.skipIf(!hasCodex)('Codex CLI, where it is installed, unmodified and under its default model', () => {
  let account: Account;
  let live = '';
  beforeAll(async () => {
    if (!gateway) return;
    account = await Account.signUp(gateway, { plan: 'enterprise' });
    ({ key: live } = await account.createKey());
  });
  beforeEach(() => upstream?.reset());

  test('is answered by the sandbox', async () => {
    expect((await exec(gateway?.bootstrap.test_api_key ?? '')).said).toContain('You said: "Say hello."');
  });

  test('has the provider search the web', async () => {
    const { told } = await exec(gateway?.bootstrap.test_api_key ?? '', 'Use web search to say hello.');
    expect(told).toContain('web search');
  });

  test('runs the tool that the model calls, and shows it what came of it', async () => {
    upstream?.script({ toolCalls: [{ name: 'exec_command', arguments: JSON.stringify({ cmd: 'echo tool-$((40+2))' }) }] });
    expect((await exec(live)).said).toContain('tok0 tok1');
    expect(upstream?.requests).toHaveLength(2);
    expect(JSON.stringify(upstream?.requests[1]?.body)).toContain('function_call_output');
  });

  test('knows by the provider’s own code that the prompt is too long for the model', async () => {
    upstream?.script(() => steps.refused(400, 'The prompt is too long.', { code: 'context_length_exceeded' }));
    expect((await exec(live)).told).toContain('ran out of room in the model');
  });

  test('shows the cap that it has reached', async () => {
    const { key } = await account.createKey({ monthly_cap_usd: '0.000001' });
    expect((await exec(key)).told).toContain('the monthly cap of this API key');
    expect(upstream?.requests).toHaveLength(0);
  });
});
