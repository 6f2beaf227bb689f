// `npm run pack`: builds what is published and leaves the tarballs in dist/, as the registry would have them; `npm run pack -- @tallygate/sdk`
// does so with the named packages alone. The gateway's has the docs site, which is built for it; `--without-site` leaves that out.
// What the bundler says is of use when it fails, and only then.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { writeSboms } from './sbom.ts';

const root = join(import.meta.dirname, '..');
const LIBRARIES = ['@tallygate/receipts', '@tallygate/sdk', 'tallygate'];
const SERVER = 'tallygate-server';
const options = process.argv.slice(2);
const named = options.filter((option) => !option.startsWith('--'));
const packages = named.length > 0 ? named : [...LIBRARIES, SERVER];
const libraries = LIBRARIES.filter((name) => packages.includes(name));
const unknown = packages.filter((name) => ![...LIBRARIES, SERVER].includes(name));
if (unknown.length > 0) fail(`Unknown package: ${unknown.join(', ')}. There are ${[...LIBRARIES, SERVER].join(', ')}.`);

const filters = (names) => names.map((name) => `--filter=${name}`);
if (libraries.length > 0) run('pnpm', ['--silent', ...filters(libraries), 'run', 'build']);
if (packages.includes(SERVER)) {
  const isWithoutSite = options.includes('--without-site');
  if (!isWithoutSite) run('pnpm', ['--silent', 'run', 'do:docs']);
  run(process.execPath, ['scripts/server-package.mjs', ...(isWithoutSite ? ['--without-site'] : [])]);
}
writeSboms(packages);
run('pnpm', ['--silent', ...filters(packages), 'pack', '--pack-destination', join(root, 'dist')]);
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
  fail(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}\n${program} ${args.join(' ')} failed.`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
