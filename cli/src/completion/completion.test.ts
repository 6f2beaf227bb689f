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
    ['the choices of an option', ['usage', '--by', 'm'], ['member', 'model']],
    ['the next choice of a list', ['usage', '--by', 'project,mo'], ['project,model']],
    ['the models that were kept', ['chat', 'Hi.', '-m', 'gpt-4'], ['gpt-4o-mini']],
    ['the profiles of this computer', ['--profile', ''], ['default', 'work']],
    ['the fields of --json, also where bash cuts at the sign', ['whoami', '--json', '=', 'em'], ['email', 'email_verified']],
    ['the same where the sign is within the word', ['usage', '--by=mo'], ['--by=model']],
    ['the next field of a list', ['whoami', '--json', 'role,email'], ['role,email', 'role,email_verified']],
    ['nothing of an option that takes no value', ['usage', '--test='], []],
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

it('knows the three shells, and rejects another', async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    expect((await terminal.type(['completion', shell])).stdout).toContain('tallygate complete -- ');
  const { stderr, exitCode } = await terminal.type(['completion', 'tcsh']);
  expect([stderr, exitCode]).toEqual([expect.stringContaining('bash, zsh, fish'), 2]);
});

/** Each shell with a line in which `budgets s` is being typed, and what it offers there. */
const REAL_SHELLS = [
  {
    shell: 'bash',
    args: ['--norc', '-c'],
    script: `source <(tallygate completion bash); COMP_WORDS=(tallygate budgets s); COMP_CWORD=2; _tallygate; echo "\${COMPREPLY[@]}"; complete -p tallygate`,
    offers: 'show set\ncomplete -o default -F _tallygate tallygate\n',
  },
  {
    shell: 'zsh',
    args: ['-fc'],
    // Only its line editor completes: what the script asks of that is written out instead.
    script:
      'compdef() { echo $@ }; _describe() { print -rl -- $candidates }; source <(tallygate completion zsh); words=(tallygate budgets s); CURRENT=3; _tallygate',
    offers: '_tallygate tallygate\nshow:The budget of a key this month, or of all keys\nset:Set or change the hard monthly cap of a key\n',
  },
  {
    shell: 'fish',
    args: ['--no-config', '-c'],
    script: 'tallygate completion fish | source; complete -C "tallygate budgets s"; complete -C "tallygate usage --by=m"',
    offers: 'set\tSet or change the hard monthly cap of a key\nshow\tThe budget of a key this month, or of all keys\n--by=model\n',
  },
].map((each) => ({ ...each, program: ['/bin', '/usr/bin'].map((folder) => `${folder}/${each.shell}`).find(existsSync) }));

describe.each(REAL_SHELLS)('in a real $shell', ({ program = '', args, script, offers }) => {
  it.skipIf(program === '')('completes without a complaint', async () => {
    const home = await mkdtemp(join(tmpdir(), 'tallygate-completion-'));
    const main = fileURLToPath(new URL('../main.ts', import.meta.url));
    await mkdir(join(home, 'bin'));
    await writeFile(join(home, 'bin/tallygate'), `#!/bin/sh\nexec ${process.execPath} --conditions=tallygate-source ${main} "$@"\n`, {
      mode: 0o755,
    });
    const child = spawn(program, [...args, script], {
      env: { PATH: `${join(home, 'bin')}:/usr/bin:/bin`, HOME: home, XDG_CONFIG_HOME: home, TALLYGATE_KEYRING: 'off' },
    });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await rm(home, { recursive: true });
    expect([stdout, stderr]).toEqual([offers, '']);
  });
});
