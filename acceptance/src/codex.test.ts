import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

/** What the agent says at the end. */
async function exec(key: string): Promise<string> {
  const { PATH } = process.env;
  const env = { PATH, HOME: folder, CODEX_HOME: join(folder, 'home'), OPENAI_API_KEY: key };
  const running = run(codex, ['exec', '--skip-git-repo-check', '--sandbox', 'read-only', 'Say hello.'], { cwd: folder, env });
  running.child.stdin?.end();
  return (await running).stdout;
}

test.skipIf(!hasCodex)(
  'Codex CLI, where it is installed, is answered under its default model by the sandbox and by a provider',
  async () => {
    if (!gateway) return;
    expect(await exec(gateway.bootstrap.test_api_key)).toContain('You said: "Say hello."');
    const { key } = await (await Account.signUp(gateway, { plan: 'enterprise' })).createKey();
    expect(await exec(key)).toContain('tok0 tok1');
  },
);
