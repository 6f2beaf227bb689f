// Every gate of the repository but the tests, one after another; all of them run, whatever the ones before said.
// Each gate is a script of package.json and can be run alone: `node --run check:types`.
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

const GATES = {
  'check:types': 'the types hold',
  'check:style': 'formatted and linted',
  'check:dead-code': 'no file, export or dependency that nothing uses',
  'check:architecture': 'the arrows of ARCHITECTURE.md hold',
  'check:generated': 'what is generated is fresh',
  'check:redocly': 'the OpenAPI document passes Redocly’s recommended rules',
  'check:clients': 'openapi-typescript and @hey-api/openapi-ts make clients of it that compile',
  'check:spectral': 'the OpenAPI document passes Spectral’s oas rules',
  'check:packages': 'what is published has sound types, installs, compiles and runs elsewhere, and is small',
  'check:contract': 'the API still serves clients of the last release',
  'check:changesets': 'the changesets can be released',
  'check:audit': 'nothing is known against the versions of our dependencies, where the registry can be asked',
};

const root = dirname(import.meta.dirname);
// The gates need no network (the audit says so where there is none): no telemetry, no look for newer versions.
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

const results = Object.entries(GATES).map(([script, claim]) => {
  console.error(`\n── ${script}`);
  const startedAt = performance.now();
  // `node --run` puts node_modules/.bin on PATH, so that nothing has to be installed beside the workspace.
  const { status } = spawnSync(process.execPath, ['--run', script], { cwd: root, env, stdio: 'inherit' });
  return { script, claim, holds: status === 0, seconds: (performance.now() - startedAt) / 1000 };
});

console.error('');
for (const { script, claim, holds, seconds } of results)
  console.error(`${holds ? 'ok  ' : 'FAIL'} ${script.padEnd(18)} ${seconds.toFixed(1).padStart(5)} s  ${claim}`);
const failed = results.filter(({ holds }) => !holds);
console.error(failed.length === 0 ? '\nAll gates hold.' : `\n${failed.length} of ${results.length} gates fail.`);
process.exitCode = failed.length === 0 ? 0 : 1;
