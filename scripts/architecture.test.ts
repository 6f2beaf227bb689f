import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../contract/src/errors.ts';
import { drawnArrows, roomArrows } from './architecture/layers.ts';
import { RULES, type Rule } from './architecture/rules.ts';
import { readSource } from './architecture/source-file.ts';

const root = dirname(import.meta.dirname);
const FOLDERS = '{acceptance,bench,cli,contract,scripts,sdk,server,packages/*}';
const paths = globSync(`${FOLDERS}/**/*.ts`, { cwd: root, exclude: (path) => /(^|\/)(node_modules|dist)(\/|$)/.test(String(path)) });
const project = paths.map((path) => readSource(path.replaceAll('\\', '/'), readFileSync(join(root, path), 'utf8')));

describe('the project', () => {
  test('is read', () => {
    expect(project.map(({ path }) => path)).toContain('server/src/kernel/problem.ts');
  });

  test.each(RULES.map((rule) => [rule.title, rule] as const))('%s', (_title, rule) => {
    expect(rule.violations(project), rule.remedy).toEqual([]);
  });
});

/** Small trees, the rule that each breaks, and the expected message. */
const BROKEN: readonly [rule: string, told: string, tree: Record<string, string>][] = [
  ['server/src holds app, kernel, adapters and the known slices', 'server/src/billing/x.ts', { 'server/src/billing/x.ts': '' }],
  ['server/src holds app, kernel, adapters and the known slices', 'server/src/server.ts', { 'server/src/server.ts': '' }],
  [
    'the kernel knows no slice, no adapter and no app',
    'access/keys/index.ts',
    { 'server/src/kernel/x.ts': "import '../access/keys/index.ts';" },
  ],
  [
    'the kernel knows no slice, no adapter and no app',
    'port.ts',
    { 'server/src/kernel/x.ts': "import type { A } from '../adapters/mail/port.ts';" },
  ],
  ['only app imports app', 'app/config.ts', { 'server/src/access/keys/x.ts': "import { config } from '../../app/config.ts';" }],
  ['only app imports app', 'app/config.ts', { 'server/src/access/keys/x.ts': "const a = await import('../../app/config.ts');" }],
  [
    'a slice is imported through its index.ts',
    'access/keys/key.ts',
    { 'server/src/money/ledger/x.ts': "export { Key } from '../../access/keys/key.ts';" },
  ],
  [
    'a slice is imported through its index.ts',
    'access/keys/key.ts',
    { 'server/src/app/x.ts': "type K = import('../access/keys/key.ts').Key;" },
  ],
  [
    'slices import each other without cycles, types included',
    'access/identity → money/ledger → access/keys → access/identity',
    {
      'server/src/access/identity/x.ts': "import '../../money/ledger/index.ts';",
      'server/src/access/keys/x.ts': "import type { A } from '../../access/identity/index.ts';",
      'server/src/money/ledger/x.ts': "import { type B } from '../../access/keys/index.ts';",
    },
  ],
  [
    'files import each other without cycles, types included',
    'server/src/kernel/a.ts → server/src/kernel/b.ts → server/src/kernel/a.ts',
    { 'server/src/kernel/a.ts': "import './b.ts';", 'server/src/kernel/b.ts': "import type { A } from './a.ts';" },
  ],
  [
    'a slice knows an adapter by its port.ts only',
    'redis.ts',
    { 'server/src/money/ledger/x.ts': "import type { R } from '../../adapters/lanes/redis.ts';" },
  ],
  [
    'an adapter knows the kernel, its own folder and types of slices',
    'keys/index.ts',
    { 'server/src/adapters/mail/x.ts': "import { keys, type Key } from '../../access/keys/index.ts';" },
  ],
  [
    'an adapter knows the kernel, its own folder and types of slices',
    'blobs/port.ts',
    { 'server/src/adapters/mail/x.ts': "import type { Blobs } from '../blobs/port.ts';" },
  ],
  [
    'an adapter and the kernel import no package of the workspace but the contract',
    '@tallygate/receipts',
    { 'server/src/adapters/mail/x.ts': "import { verify } from '@tallygate/receipts';" },
  ],
  [
    'production code imports nothing that is for tests',
    'test-database.ts',
    { 'server/src/app/x.ts': "import '../adapters/postgres/test-database.ts';", 'server/src/adapters/postgres/test-database.ts': '' },
  ],
  [
    'production code imports nothing that is for tests',
    'lanes/suite.ts',
    {
      'server/src/app/x.ts': "import '../adapters/lanes/suite.ts';",
      'server/src/adapters/lanes/suite.ts': "import { test } from 'vitest';",
    },
  ],
  ['the server reads the environment in app/config.ts only', 'x.ts:2', { 'server/src/app/x.ts': '// first\nconst a = process.env.PORT;' }],
  [
    'the server reads the environment in app/config.ts only',
    'x.ts:1',
    { 'server/src/access/keys/x.ts': "import { env } from 'node:process';" },
  ],
  [
    'the CLI and the SDK read the environment in one file each',
    'cli/src/a.ts, cli/src/b.ts',
    { 'cli/src/a.ts': 'process.env.A;', 'cli/src/b.ts': "process['env'].B;" },
  ],
  [
    'providers are called from inference/calls/attempt.ts only',
    'x.ts:1',
    { 'server/src/inference/videos/x.ts': 'const answer = await target.deployment.upstream.call(request);' },
  ],
  [
    'transactions are run by kernel/transaction.ts, which repeats what a deadlock ended',
    'x.ts:1',
    { 'server/src/access/keys/x.ts': "await client.query('begin isolation level serializable');" },
  ],
  [
    'transactions are run by kernel/transaction.ts, which repeats what a deadlock ended',
    'x.ts:1',
    { 'server/src/access/keys/x.ts': 'await em.fork().transactional(async (unit) => unit.flush());' },
  ],
  [
    'bodies of requests are read by body.ts, content-coding.ts and incoming.ts of app/http only',
    'of req)',
    { 'server/src/app/http/x.ts': 'async () => { for await (const piece of req) take(piece); };' },
  ],
  [
    'bodies of requests are read by body.ts, content-coding.ts and incoming.ts of app/http only',
    'req.destroy',
    { 'server/src/app/http/x.ts': 'req.destroy(new Error());' },
  ],
  [
    'rows are typed by entities, or checked as they arrive',
    'x.ts:1',
    { 'server/src/access/keys/x.ts': "const { rows } = await pool.query<{ id: string }>('select id from api_keys');" },
  ],
  [
    'every Problem has a code of the contract',
    'no_such_code',
    { 'server/src/access/keys/x.ts': "throw new Problem('no_such_code', 'x');" },
  ],
  ['the server and the SDK never print with console.log', 'console.log', { 'sdk/src/x.ts': "console.log('x');" }],
  ['files and folders are named after what is in them', 'sdk/src/utils.ts', { 'sdk/src/utils.ts': '' }],
  ['files and folders are named after what is in them', 'cli/src/shared/x.ts', { 'cli/src/shared/x.ts': '' }],
  ['no file is longer than 350 lines', '351 lines', { 'cli/src/x.ts': '\n'.repeat(351) }],
];

/** What looks like a violation and is none. */
const SOUND = {
  'server/src/main.ts': "import { start } from './app/index.ts';",
  'server/src/app/config.ts': 'export const port = process.env.PORT;',
  'server/src/app/index.ts': "import { createRedis } from '../adapters/lanes/redis.ts';\nimport { keys } from '../access/keys/index.ts';",
  'server/src/access/keys/index.ts': "export { keys } from './keys.ts';",
  'server/src/access/keys/keys.ts':
    "// process.env is not read here, nor is console.log called.\nimport type { Lanes } from '../../adapters/lanes/port.ts';",
  'server/src/access/keys/keys.test.ts':
    "import '../../app/config.ts';\nimport { session } from '../../access/identity/session.ts';\nprocess.env.PORT = '1';",
  'server/src/money/ledger/index.ts': "import { keys } from '../../access/keys/index.ts';\nthrow new Problem('not_found', 'x');",
  'server/src/adapters/lanes/redis.ts':
    "import type { Key } from '../../access/keys/index.ts';\nimport { money } from '../../kernel/money.ts';",
  'server/src/app/migrations/0001.ts': '\n'.repeat(400),
  'sdk/src/environment.ts': 'process.env.TALLYGATE_API_KEY;',
};

describe('the rules', () => {
  const read = (tree: Record<string, string>) => Object.entries(tree).map(([path, text]) => readSource(path, text));
  const ruleTitled = (title: string): Rule | undefined => RULES.find((rule) => rule.title === title);

  test.each(BROKEN)('“%s” finds %s', (title, told, tree) => {
    expect(ruleTitled(title)?.violations(read(tree))).toEqual([expect.stringContaining(told)]);
  });

  test('are each proven to find something', () => {
    expect([...new Set(BROKEN.map(([title]) => title))].sort()).toEqual(RULES.map(({ title }) => title).sort());
  });

  test('find nothing in a sound tree', () => {
    expect(RULES.flatMap((rule) => rule.violations(read(SOUND)))).toEqual([]);
  });
});

test('the picture of the rooms in ARCHITECTURE.md is what the imports say', () => {
  const drawn = drawnArrows(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'));
  expect(Object.fromEntries(drawn)).toEqual(Object.fromEntries(roomArrows(project)));
});

test('every error code of the contract is one that the server answers with', () => {
  const server = project.filter(({ path }) => path.startsWith('server/src/') && !path.includes('.test.'));
  const isThrown = (code: string) => server.some(({ path }) => readFileSync(join(root, path), 'utf8').includes(`'${code}'`));
  expect(
    ERROR_CODES.filter((code) => !isThrown(code)),
    'throw it or take it out of contract/src/errors.ts',
  ).toEqual([]);
});
