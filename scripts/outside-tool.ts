import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const isWindows = process.platform === 'win32';

/**
 * The programs of a package that the workspace does not bring along: it is installed beside it, in `.tools/`, by the first who asks.
 * @param spec name and exact version: `openapi-typescript@7.13.0`
 * @returns the folder of its programs
 */
export function outsideTool(spec: string, ...beside: readonly string[]): string {
  const folder = join(root, '.tools', spec.replaceAll(/[@/]+/g, '-').replace(/^-/, ''));
  const programs = join(folder, 'node_modules', '.bin');
  if (existsSync(programs)) return programs;
  // Beside its place first, then renamed: it is there whole or not at all.
  const made = `${folder}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  writeFileSync(join(made, 'package.json'), '{"private":true}');
  const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['install', '--prefix', made, ...flags, spec, ...beside], {
    stdio: ['ignore', 2, 2],
    shell: isWindows,
  });
  if (status === 0 && !existsSync(folder)) renameSync(made, folder);
  else rmSync(made, { recursive: true, force: true });
  if (status !== 0) throw new Error(`npm could not install ${spec}`);
  return programs;
}
