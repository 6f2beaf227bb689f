// Generates clients from the OpenAPI document with the two most used TypeScript generators, and compiles them. A warning
// counts as much as an error.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { outsideTool } from './outside-tool.ts';

const document = join(dirname(import.meta.dirname), 'contract/openapi.json');
// Both generators write with the compiler's own printer, which TypeScript 7 does not have.
const COMPILER = 'typescript@5.9.3';
const out = mkdtempSync(join(tmpdir(), 'tallygate-clients-'));

const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
    ...{ module: 'esnext', moduleResolution: 'bundler', target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'] },
  },
  include: ['.'],
};

try {
  generate('openapi-typescript@7.13.0', 'openapi-typescript', [document, '-o', join(out, 'openapi-typescript.ts')]);
  const client = join(out, 'hey-api');
  mkdirSync(client);
  generate('@hey-api/openapi-ts@0.99.0', 'openapi-ts', ['-i', document, '-o', client, '--no-log-file']);
  writeFileSync(join(out, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  run('tsc', ['-p', out]);
} finally {
  rmSync(out, { recursive: true, force: true });
}

function generate(spec: string, program: string, args: readonly string[]): void {
  const output = run(join(outsideTool(spec, COMPILER), program), args);
  const warnings = output.split('\n').filter((line) => /warn|deprecat|unsupported|invalid|⚠/i.test(line));
  console.error(`${spec}: ${warnings.length} warnings`);
  for (const line of warnings) console.error(`  ${line}`);
  if (warnings.length > 0) process.exitCode = 1;
}

function run(program: string, args: readonly string[]): string {
  // Away from the repository, whose own lint settings one of them would read: as a user who has only the document.
  const { status, stdout, stderr } = spawnSync(program, [...args], { cwd: out, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  if (status !== 0) {
    console.error(`${stdout}${stderr}`);
    throw new Error(`${program} fails`);
  }
  return `${stdout}${stderr}`;
}
