// What the package `tallygate-server` has: the gateway as `npm start` builds it, the program that runs it, the contract's document, and the
// documentation, built. Everything is as deep in the package as here, so that the code finds it beside itself.
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { builtServer } from './server-build.mjs';

const root = join(import.meta.dirname, '..');
const target = join(root, 'packages/tallygate-server/dist');
const site = join(root, 'docs/site/dist');
/** For tests of the gateway alone: the site takes half a minute. */
const isWithoutSite = process.argv.includes('--without-site');

if (!isWithoutSite && !existsSync(join(site, 'index.html'))) throw new Error('The documentation is not built: run `npm run docs` first');
rmSync(target, { recursive: true, force: true });
copy(dirname(builtServer()), 'server/dist/gateway', (path) => !path.endsWith('.map'));
copy(join(root, 'contract/openapi.json'), 'contract/openapi.json');
for (const section of ['start', 'concepts', 'guides', 'errors']) copy(join(root, 'docs', section), `docs/${section}`);
// Browsers take Brotli; who does not gets the text itself.
if (!isWithoutSite) copy(site, 'docs/site/dist', (path) => !path.endsWith('.gz'));
await build({
  absWorkingDir: root,
  entryPoints: ['scripts/tallygate-server.ts'],
  outfile: join(target, 'bin/tallygate-server.js'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  // Older versions get an error message.
  target: 'node18',
  banner: {
    // Libraries in CommonJS ask for Node's modules.
    js: "#!/usr/bin/env node\nimport { createRequire as requireFrom_ } from 'node:module'; const require = requireFrom_(import.meta.url);",
  },
  logLevel: 'error',
});

function copy(from, to, filter = () => true) {
  mkdirSync(dirname(join(target, to)), { recursive: true });
  cpSync(from, join(target, to), { recursive: true, filter });
}
