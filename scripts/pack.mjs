// `npm run pack`: builds what is published and leaves the tarballs in dist/, as the registry would have them. The gateway's has the docs site,
// which is built for it; `--without-site` leaves it out, for who only looks at the packages.
// What the bundler says is of use when it fails, and only then.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const libraries = ['--filter=./sdk', '--filter=./cli', '--filter=./packages/receipts'];
const isWithoutSite = process.argv.includes('--without-site');

if (!isWithoutSite) run('pnpm', ['--silent', 'run', 'do:docs']);
run('pnpm', ['--silent', ...libraries, 'run', 'build']);
run(process.execPath, ['scripts/server-package.mjs', ...(isWithoutSite ? ['--without-site'] : [])]);
run('pnpm', ['--silent', ...libraries, '--filter=./packages/tallygate-server', 'pack', '--pack-destination', join(root, 'dist')]);
console.error('The packages are in dist/.');

function run(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  console.error(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}\n${program} ${args.join(' ')} failed.`);
  process.exit(status ?? 1);
}
