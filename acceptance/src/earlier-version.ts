import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** One folder for each revision that was built, among the builds of today, which are removed in time. */
const KEPT = join(ROOT, 'server/dist/.earlier-versions');
const SOURCES = ['contract', 'server', 'console', 'sdk', 'packages', 'scripts', 'package.json', 'pnpm-lock.yaml', 'tsconfig.json'];
const MIGRATIONS = 'server/src/app/migrations';
const RELEASES = 'tallygate-server@*';

/**
 * The gateway's program as the last release has it; before the first one, as it was before the newest migration. Another revision may be named.
 * It is built with the libraries of today.
 *
 * @returns undefined where the history does not have it (a shallow clone, an archive), or today's libraries do not fit
 */
export function earlierServer(revision = process.env['UPGRADE_FROM'] ?? earlierRevision()): string | undefined {
  const commit = revision === undefined ? undefined : git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`);
  if (commit === undefined) return undefined;
  const folder = join(KEPT, commit);
  if (!existsSync(folder) && !build(commit, folder)) return undefined;
  const { folder: built }: { folder: string } = JSON.parse(readFileSync(join(folder, 'server/dist/inputs.json'), 'utf8'));
  return join(folder, 'server/dist', built, 'main.js');
}

function earlierRevision(): string | undefined {
  const newest = git('log', '-1', '--format=%H', '--diff-filter=A', '--', MIGRATIONS);
  return git('describe', '--tags', '--abbrev=0', '--match', RELEASES) ?? (newest && `${newest}^`);
}

/** Whole or not at all: a run that is stopped leaves nothing that the next one would take for a build. */
function build(commit: string, folder: string): boolean {
  mkdirSync(KEPT, { recursive: true });
  const draft = mkdtempSync(join(KEPT, '.draft-'));
  const archive = execFileSync('git', ['archive', commit, ...SOURCES], { cwd: ROOT, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', draft], { input: archive });
  // Links among the packages lead to the packages of that revision, all others to the libraries of today.
  for (const libraries of globSync(['node_modules', '{contract,server,console,sdk}/node_modules', 'packages/*/node_modules'], {
    cwd: ROOT,
  }))
    if (existsSync(join(draft, dirname(libraries))))
      cpSync(join(ROOT, libraries), join(draft, libraries), { recursive: true, verbatimSymlinks: true, filter: isLink });
  symlinkSync(join(ROOT, 'node_modules/.pnpm'), join(draft, 'node_modules/.pnpm'));
  const { status } = spawnSync(process.execPath, ['scripts/server-build.mjs'], { cwd: draft, stdio: 'inherit' });
  if (status === 0 && !existsSync(folder)) renameSync(draft, folder);
  else rmSync(draft, { recursive: true });
  return status === 0;
}

const isLink = (path: string): boolean => !['.pnpm', '.cache', '.bin'].includes(basename(path));

/** @returns what it says, or undefined where it fails or says nothing */
function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : undefined;
}
