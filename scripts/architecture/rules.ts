import { ERRORS } from '../../contract/src/errors.ts';
import { fileCycles } from './cycles.ts';
import { type Arrow, arrowsOf, isIndexOf, isPortOf, placeOf, SLICES, sliceCycles } from './layers.ts';
import type { SourceFile } from './source-file.ts';

export interface Rule {
  readonly title: string;
  /** What to do about a violation. */
  readonly remedy: string;
  /** Every place that breaks the rule. */
  violations(files: readonly SourceFile[]): string[];
}

/** A rule about imports between the places of the server. */
const arrowRule = (title: string, remedy: string, isBroken: (arrow: Arrow) => boolean): Rule => ({
  title,
  remedy,
  violations: (files) => arrowsOf(files).filter(isBroken).map(describe),
});

const describe = ({ file, import: { target, line } }: Arrow): string => `${file.path}:${line} imports ${target}`;

/** A rule about production code. */
const codeRule = (title: string, remedy: string, find: (file: SourceFile) => RegExpMatchArray[]): Rule => ({
  title,
  remedy,
  violations: (files) =>
    files
      .filter((file) => !file.isTest)
      .flatMap((file) => find(file).map((match) => `${file.path}:${file.code.slice(0, match.index).split('\n').length} has ${match[0]}`)),
});

const ENVIRONMENT = /\bprocess\s*(\.\s*env\b|\[\s*['"]env['"]\s*\])|import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*['"](node:)?process['"]/g;
const readsEnvironment = (file: SourceFile) => [...file.code.matchAll(ENVIRONMENT)];

const TRANSACTION =
  /\bquery\s*\(\s*['"`](?:begin|start transaction|commit|rollback(?! to\b))\b|\.\s*transactional\s*\(|\b(?:em|unit)\.begin\(/g;
const OWN_TRANSACTIONS: ReadonlySet<string> = new Set([
  'server/src/kernel/transaction.ts',
  // The mail goes out while its row is locked, and must not go out again.
  'server/src/mail/outbox.ts',
  // Alone on the database, at the start.
  'server/src/app/migrate.ts',
]);

const BODY_READING = /\bof\s+(?:\w+\.)?req(?:uest)?\)|\breq(?:uest)?\.(?:destroy|setTimeout|pipe|iterator|on\(\s*'(?:data|readable)')/g;
const BODY_READERS: ReadonlySet<string> = new Set(['body', 'content-coding', 'incoming'].map((name) => `server/src/app/http/${name}.ts`));

/** The second passes on the calls of the first, within a provider's limits. */
const CALLS_PROVIDERS: ReadonlySet<string> = new Set(['server/src/inference/calls/attempt.ts', 'server/src/app/provider-limits.ts']);

/** A type argument claims an unchecked row type: `query<Row>(…)`. */
const CAST = /\.\s*(?:query|execute)\s*</g;

const VAGUE_NAMES = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'shared', 'lib', 'manager', 'types', 'constants']);
const MAX_LINES = 350;
const UNMEASURED = /(^|\/)(generated|fixtures|vectors|migrations)\//;

export const RULES: readonly Rule[] = [
  {
    title: 'server/src holds app, kernel, adapters and the known slices',
    remedy: `Put the file into the slice it belongs to. A new slice is added to SLICES in scripts/architecture/layers.ts (now: ${SLICES.join(', ')}).`,
    violations: (files) => files.filter(({ path }) => placeOf(path)?.layer === 'unknown').map(({ path }) => path),
  },
  arrowRule(
    'the kernel knows no slice, no adapter and no app',
    'Move what it needs into the kernel, or move the file that needs it out of the kernel.',
    ({ from }) => from.layer === 'kernel',
  ),
  arrowRule(
    'only app imports app',
    'Hand the value in as a parameter: app builds everything and passes it down.',
    ({ from, to }) => from.layer !== 'app' && to.layer === 'app',
  ),
  arrowRule(
    'a slice is imported through its index.ts',
    'Export what is needed from the slice’s index.ts and import it from there.',
    ({ to, import: { target } }) => to.layer === 'slice' && !isIndexOf(to.name, target),
  ),
  {
    title: 'slices import each other without cycles, types included',
    remedy:
      'Let the slice that is used know nothing of its user: pass a value or a function in, or move the shared type to the slice that owns it.',
    violations: (files) => sliceCycles(arrowsOf(files)),
  },
  {
    title: 'files import each other without cycles, types included',
    remedy: 'Move what both need into a file that needs neither.',
    violations: fileCycles,
  },
  arrowRule(
    'a slice knows an adapter by its port.ts only',
    'Take the port as a parameter; app chooses the implementation.',
    ({ from, to, import: { target } }) => from.layer === 'slice' && to.layer === 'adapter' && !isPortOf(to.name, target),
  ),
  arrowRule(
    'an adapter knows the kernel, its own folder and types of slices',
    'An adapter translates and nothing else: import slices with `import type` from their index.ts, and leave other adapters to app.',
    ({ from, to, import: { isType } }) => from.layer === 'adapter' && (to.layer === 'adapter' || (to.layer === 'slice' && !isType)),
  ),
  {
    title: 'an adapter and the kernel import no package of the workspace but the contract',
    remedy: 'Let a slice or app do that part, and pass the result in.',
    violations: (files) =>
      files
        .filter(({ path, isTest }) => !isTest && ['adapter', 'kernel'].includes(placeOf(path)?.layer ?? ''))
        .flatMap(({ path, imports }) =>
          imports
            .filter(({ target }) => /^@tallygate\/(?!contract(\/|$))/.test(target))
            .map(({ target, line }) => `${path}:${line} imports ${target}`),
        ),
  },
  {
    title: 'production code imports nothing that is for tests',
    remedy: 'Move what production needs out of the test file.',
    violations: (files) => {
      const tests = new Set(files.filter(({ isTest }) => isTest).map(({ path }) => path));
      return files
        .filter(({ isTest }) => !isTest)
        .flatMap(({ path, imports }) =>
          imports.filter(({ target }) => tests.has(target)).map(({ target, line }) => `${path}:${line} imports ${target}`),
        );
    },
  },
  codeRule(
    'the server reads the environment in app/config.ts only',
    'Read the variable in server/src/app/config.ts and pass the value on.',
    (file) => (file.path.startsWith('server/src/') && file.path !== 'server/src/app/config.ts' ? readsEnvironment(file) : []),
  ),
  {
    title: 'the CLI and the SDK read the environment in one file each',
    remedy: 'Read the variable where the others are read and pass the value on.',
    violations: (files) =>
      ['cli/src/', 'sdk/src/'].flatMap((folder) => {
        const readers = files.filter((file) => file.path.startsWith(folder) && !file.isTest && readsEnvironment(file).length > 0);
        return readers.length > 1 ? [readers.map(({ path }) => path).join(', ')] : [];
      }),
  },
  codeRule(
    'providers are called from inference/calls/attempt.ts only',
    'Go through completeCall or streamCall: other calls have no hold.',
    (file) =>
      file.path.startsWith('server/src/') && !CALLS_PROVIDERS.has(file.path) ? [...file.code.matchAll(/\bupstream\s*\??\.\s*call\b/g)] : [],
  ),
  codeRule(
    'transactions are run by kernel/transaction.ts, which repeats what a deadlock ended',
    'Use inTransaction, inUnitOfWork or inSnapshot. Only what has an effect outside the database, and migrations, begin one themselves.',
    (file) => (file.path.startsWith('server/src/') && !OWN_TRANSACTIONS.has(file.path) ? [...file.code.matchAll(TRANSACTION)] : []),
  ),
  codeRule(
    'bodies of requests are read by body.ts, content-coding.ts and incoming.ts of app/http only',
    'Use readBody or Incoming: a loop over a request destroys it when it ends early, and its connection is gone before the answer is out.',
    (file) => (file.path.startsWith('server/src/') && !BODY_READERS.has(file.path) ? [...file.code.matchAll(BODY_READING)] : []),
  ),
  codeRule(
    'rows are typed by entities, or checked as they arrive',
    'Build the statement from the slice’s tables.ts and run it with rowsOf, firstOf or run; give checkedRows a schema of what the builder cannot say.',
    (file) => (file.path.startsWith('server/src/') ? [...file.code.matchAll(CAST)] : []),
  ),
  codeRule(
    'every Problem has a code of the contract',
    'Add the code to ERRORS in contract/src/errors.ts, or use one that is there.',
    (file) => [...file.code.matchAll(/new Problem\(\s*'([^']*)'/g)].filter(([, code = '']) => !Object.hasOwn(ERRORS, code)),
  ),
  codeRule(
    'the server and the SDK never print with console.log',
    'Log through the Log that is passed in; a library prints nothing.',
    (file) => (/^(server|sdk)\/src\//.test(file.path) ? [...file.code.matchAll(/\bconsole\s*\.\s*log\b/g)] : []),
  ),
  {
    title: 'files and folders are named after what is in them',
    remedy: `Name it after the thing it holds; these names hold anything: ${[...VAGUE_NAMES].join(', ')}.`,
    violations: (files) =>
      files.filter(({ path }) => path.split('/').some((part) => VAGUE_NAMES.has(part.replace(/\..*$/, '')))).map(({ path }) => path),
  },
  {
    title: `no file is longer than ${MAX_LINES} lines`,
    remedy: 'Split it where it is two things. Generated files, fixtures, vectors, migrations and tests are not measured.',
    violations: (files) =>
      files
        .filter(({ path, isTest, lineCount }) => lineCount > MAX_LINES && !isTest && !UNMEASURED.test(path))
        .map(({ path, lineCount }) => `${path}: ${lineCount} lines`),
  },
];
