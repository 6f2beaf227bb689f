import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/longest-first.ts';
import { TotalsReporter } from './scripts/totals-reporter.ts';

const RELATIVE_IMPORTS = fileURLToPath(new URL('./scripts/relative-imports.setup.ts', import.meta.url));
const PROPERTY_SEED = fileURLToPath(new URL('./scripts/property-seed.setup.ts', import.meta.url));
const DECLARED_REFUSALS = fileURLToPath(new URL('./contract/src/openapi/declared-refusals.setup.ts', import.meta.url));
const RUN_DATABASE = fileURLToPath(new URL('./acceptance/src/run-database.setup.ts', import.meta.url));
const BUILT_SERVER = fileURLToPath(new URL('./scripts/built-server.setup.mjs', import.meta.url));
/** What is loaded at the start is copied ten times over while the young generation is small: a twelfth of the CPU time that it takes to load the server. */
const YOUNG_GENERATION = ['--min-semi-space-size=16', '--max-semi-space-size=32'];
const NATIVE = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  execArgv: ['--conditions=tallygate-source', ...YOUNG_GENERATION],
};
/**
 * How many files run at a time. A process takes more than a second of CPU time to load what its project tests, so there are no more than wait
 * for something: two thirds of what an acceptance test does is to wait, for a process that starts or a time that has to pass, and the server's
 * and the scripts' wait for a database or a process now and then. They are one group: the first files of the server fill the time in which the
 * last of the acceptance tests wait. The projects of a group begin when those of the group before have ended.
 */
const WAITING = { sequence: { groupOrder: 0 }, maxWorkers: 6 };
const WORKING = { sequence: { groupOrder: 1 }, maxWorkers: availableParallelism() };

/**
 * Nothing is tried twice: a test that fails now and then is a bug of its own. Files of a project share their processes, and with them what
 * was imported, which is a third of the time: a test leaves no global thing changed.
 */
const project = (name: string, root: string, setupFiles: string[] = [], more: ProjectSettings = {}) => ({
  extends: true as const,
  test: {
    name,
    root,
    include: ['src/**/*.test.ts'],
    setupFiles: [RELATIVE_IMPORTS, ...setupFiles],
    isolate: false,
    ...NATIVE,
    ...WORKING,
    ...more,
  },
});

interface ProjectSettings {
  readonly globalSetup?: string;
  readonly include?: string[];
  readonly maxWorkers?: number;
  readonly sequence?: { readonly groupOrder: number };
}

export default defineConfig({
  test: {
    // They end what hangs, and judge nobody for being slow: a machine that is busy with something else takes many times as long.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 50 } },
    // Node runs the sources as they are, here as everywhere: to transform and wrap each module took a tenth of a run.
    ...NATIVE,
    reporters: ['default', new TotalsReporter()],
    sequence: { sequencer: LongestFirst },
    // One embedded PostgreSQL for the run; only tests that ask for a database start it.
    globalSetup: [
      './scripts/scratch-folder.setup.ts',
      './server/src/adapters/postgres/test-database.setup.ts',
      './server/src/adapters/redis/test-redis.setup.ts',
    ],
    projects: [
      project('contract', './contract'),
      project('server', './server', [PROPERTY_SEED, DECLARED_REFUSALS], WAITING),
      project('sdk', './sdk'),
      project('console', './console'),
      project('cli', './cli'),
      project('receipts', './packages/receipts', [PROPERTY_SEED]),
      project('witness', './packages/witness'),
      project('fake-upstream', './packages/fake-upstream'),
      project('fake-stripe', './packages/fake-stripe'),
      project('receipt-anchor', './packages/receipt-anchor'),
      project('acceptance', './acceptance', [DECLARED_REFUSALS, RUN_DATABASE], { globalSetup: BUILT_SERVER, ...WAITING }),
      project('architecture', './scripts', [], { include: ['*.test.ts'], ...WAITING }),
    ],
  },
});
