import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const PROGRAM = `
import { platformKeyring } from './src/keyring.ts';
const kept = await platformKeyring('linux').write('a', 'secret');
process.stdout.write(String(kept));
`;

it('does not delay the program where the computer has no keyring', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    cwd: new URL('..', import.meta.url),
    env: { PATH: '/nowhere' },
    timeout: 20_000,
  });
  expect(stdout).toBe('false');
});
