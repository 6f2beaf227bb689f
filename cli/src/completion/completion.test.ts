import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
  terminal.files.set('/config/tallygate/default.prices.json', JSON.stringify({ prices: { 'gpt-4o-mini': {}, 'gpt-5.6-sol': {} } }));
  const login = { base_url: 'x', session_token: 'tgs_x', email: 'x', expires_at: 'x' };
  terminal.files.set('/config/tallygate/credentials.json', JSON.stringify({ profiles: { default: login, work: login } }));
});
afterEach(() => gateway[Symbol.asyncDispose]());

/** The words offered for a line of which the last word is being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const { stdout } = await terminal.type(['complete', '--', ...words]);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0] ?? '');
}

describe('what is offered', () => {
  it.each<[string, string[], string[]]>([
    ['the commands that begin so', ['budg'], ['budgets']],
    ['those of a noun', ['keys', 'ro'], ['rotate']],
    ['the options of a command', ['usage', '--t'], ['--to', '--test']],
    ['those of every command', ['keys', 'list', '--base'], ['--base-url']],
    ['the choices of an option', ['usage', '--by', ''], ['day', 'model', 'key', 'run']],
    ['the models that were kept', ['chat', 'Hi.', '-m', 'gpt-4'], ['gpt-4o-mini']],
    ['the profiles of this computer', ['--profile', ''], ['default', 'work']],
    ['the fields of --json, also where bash cuts at the sign', ['whoami', '--json', '=', 'em'], ['email', 'email_verified']],
    ['nothing where a value is anybody’s', ['keys', 'create', '--name', ''], []],
    ['the shells', ['comp'], ['completion']],
  ])('is %s', async (_what, words, wanted) => {
    expect(await offered(...words)).toEqual(wanted);
  });

  it('asks no gateway, and comes with a word on each', async () => {
    const { stdout } = await terminal.type(['complete', '--', 'ke'], {});
    expect([stdout, gateway.requests]).toEqual(['keys\tAPI keys\n', []]);
  });
});

it('knows the three shells, and says so of another', async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    expect((await terminal.type(['completion', shell])).stdout).toContain('tallygate complete -- ');
  const { stderr, exitCode } = await terminal.type(['completion', 'tcsh']);
  expect([stderr, exitCode]).toEqual([expect.stringContaining('bash, zsh, fish'), 2]);
});

it.skipIf(!existsSync('/bin/bash'))('completes in a real bash', async () => {
  const home = await mkdtemp(join(tmpdir(), 'tallygate-completion-'));
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  await mkdir(join(home, 'bin'));
  await writeFile(join(home, 'bin/tallygate'), `#!/bin/sh\nexec ${process.execPath} --conditions=tallygate-source ${main} "$@"\n`, {
    mode: 0o755,
  });
  const script = `source <(tallygate completion bash); COMP_WORDS=(tallygate budgets s); COMP_CWORD=2; _tallygate; echo "\${COMPREPLY[@]}"; complete -p tallygate`;
  const child = spawn('/bin/bash', ['--norc', '-c', script], {
    env: { PATH: `${join(home, 'bin')}:/usr/bin:/bin`, XDG_CONFIG_HOME: home, TALLYGATE_KEYRING: 'off' },
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await rm(home, { recursive: true });
  expect([stdout, stderr]).toEqual(['show set\ncomplete -o default -F _tallygate tallygate\n', '']);
});
