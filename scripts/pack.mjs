// `npm run pack`: builds what is published and leaves the tarballs in dist/, as the registry would have them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const published = ['--filter=./sdk', '--filter=./cli', '--filter=./packages/receipts'];
for (const args of [
  ['run', 'build'],
  ['pack', '--pack-destination', join(root, 'dist')],
]) {
  const { status } = spawnSync('pnpm', ['--silent', ...published, ...args], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}
