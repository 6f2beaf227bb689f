// `npm run pack`: builds what is published and leaves the tarballs in dist/, as the registry would have them.
// What the bundler says is of use when it fails, and only then.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const published = ['--filter=./sdk', '--filter=./cli', '--filter=./packages/receipts'];
for (const args of [
  ['run', 'build'],
  ['pack', '--pack-destination', join(root, 'dist')],
]) {
  const { status, stdout, stderr, error } = spawnSync('pnpm', ['--silent', ...published, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
    shell: process.platform === 'win32',
  });
  if (status === 0) continue;
  console.error(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}\npnpm ${args.join(' ')} failed.`);
  process.exit(status ?? 1);
}
console.error('The packages are in dist/.');
