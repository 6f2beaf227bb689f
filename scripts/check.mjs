// Every gate of the repository but the tests, one more at a time than there are cores, since some wait for a registry; all of them run, whatever
// the others say.
// Each gate is a script of package.json and can be run alone: `node --run check:types`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * The longest first. Of the tests in scripts/ the gate of the architecture runs those that read the tree: what starts programs is left to
 * `npm test`.
 */
const GATES = {
  'check:types': 'the types hold',
  'check:packages': 'what is published has sound types, installs, compiles and runs elsewhere, and is small',
  'check:clients': 'openapi-typescript and @hey-api/openapi-ts make clients of it that compile',
  'check:style': 'formatted and linted',
  'check:spectral': 'the OpenAPI document passes Spectral’s oas rules',
  'check:architecture': 'the arrows of ARCHITECTURE.md hold',
  'check:dead-code': 'no file, export or dependency that nothing uses',
  'check:redocly': 'the OpenAPI document passes Redocly’s recommended rules',
  'check:generated': 'what is generated is fresh',
  'check:contract': 'the API still serves clients of the last release',
  'check:changesets': 'the changesets can be released',
  'check:audit': 'nothing is known against the versions of our dependencies, where the registry can be asked',
};

/** What alone decides about the OpenAPI document. A gate that has held for just these files is not run again: the three take thirty seconds. */
const DOCUMENT = ['contract/openapi.json', 'package.json', 'pnpm-lock.yaml', 'scripts/outside-tool.ts'];
const DECIDED_BY = {
  'check:clients': [...DOCUMENT, 'scripts/openapi-clients.ts'],
  'check:spectral': [...DOCUMENT, 'scripts/spectral.ts'],
  'check:redocly': [...DOCUMENT, 'redocly.yaml', '.redocly.lint-ignore.yaml'],
};

const root = dirname(import.meta.dirname);
const kept = join(root, 'node_modules/.cache/gates');
// The gates need no network (the audit says so where there is none): no telemetry, no look for newer versions.
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

const waiting = Object.entries(GATES);
const results = [];
const worker = async () => {
  for (let gate = waiting.shift(); gate; gate = waiting.shift()) {
    const [script, claim] = gate;
    const startedAt = performance.now();
    const digest = digestOf(DECIDED_BY[script]);
    const { code, output } = hasHeld(script, digest)
      ? { code: 0, output: 'held before, and nothing has changed since\n' }
      : await run(script);
    console.error(`\n── ${script}\n${output}`);
    if (code === 0 && digest !== undefined) keep(script, digest);
    results.push({ script, claim, holds: code === 0, seconds: (performance.now() - startedAt) / 1000 });
  }
};
await Promise.all(Array.from({ length: availableParallelism() + 1 }, worker));

function digestOf(files) {
  if (files === undefined) return undefined;
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function hasHeld(script, digest) {
  const path = join(kept, script.replace(':', '-'));
  return digest !== undefined && existsSync(path) && readFileSync(path, 'utf8') === digest;
}

function keep(script, digest) {
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(kept, script.replace(':', '-')), digest);
}

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
