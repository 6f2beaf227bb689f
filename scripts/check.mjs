// Every gate of the repository but the tests, as many at a time as there are cores; all of them run, whatever the others say.
// Each gate is a script of package.json and can be run alone: `node --run check:types`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
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

const waiting = Object.entries(GATES);
const results = [];
const worker = async () => {
  for (let gate = waiting.shift(); gate; gate = waiting.shift()) {
    const [script, claim] = gate;
    const startedAt = performance.now();
    const { code, output } = await run(script);
    console.error(`\n── ${script}\n${output}`);
    results.push({ script, claim, holds: code === 0, seconds: (performance.now() - startedAt) / 1000 });
  }
};
await Promise.all(Array.from({ length: availableParallelism() }, worker));

/** `node --run` puts node_modules/.bin on PATH, so that nothing has to be installed beside the workspace. */
async function run(script) {
  const child = spawn(process.execPath, ['--run', script], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece) => (output += piece));
  const [code] = await once(child, 'close');
  return { code, output };
}

console.error('');
for (const { script, claim, holds, seconds } of results)
  console.error(`${holds ? 'ok  ' : 'FAIL'} ${script.padEnd(18)} ${seconds.toFixed(1).padStart(5)} s  ${claim}`);
const failed = results.filter(({ holds }) => !holds);
console.error(failed.length === 0 ? '\nAll gates hold.' : `\n${failed.length} of ${results.length} gates fail.`);
process.exitCode = failed.length === 0 ? 0 : 1;
