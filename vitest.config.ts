import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TotalsReporter } from './scripts/totals-reporter.ts';

const PROPERTY_SEED = fileURLToPath(new URL('./scripts/property-seed.setup.ts', import.meta.url));
const DECLARED_REFUSALS = fileURLToPath(new URL('./contract/src/openapi/declared-refusals.setup.ts', import.meta.url));
const RUN_DATABASE = fileURLToPath(new URL('./acceptance/src/run-database.setup.ts', import.meta.url));
const source = { ssr: { resolve: { conditions: ['tallygate-source', 'node'] } } };
/**
 * Nothing is tried twice: a test that fails now and then is a bug of its own. Files of a project share their processes, and with them what
 * was imported, which is a third of the time: a test leaves no global thing changed.
 */
const unit = (name: string, root: string, setupFiles: string[] = []) => ({
  extends: true as const,
  test: { name, root, include: ['src/**/*.test.ts'], setupFiles, isolate: false },
});

/** They fill the machine by themselves, or measure how soon something happens. */
const UNDER_LOAD = ['batches', 'money-under-concurrency', 'rate-limits', 'response-headers', 'two-gateways'].map(
  (name) => `src/${name}.test.ts`,
);
/**
 * Every file starts a server of its own: three at a time, since some do little but wait for it, after all other tests; and what puts load
 * on it one after the other at the end.
 */
const acceptance = (
  name: string,
  settings: { include?: string[]; exclude?: string[]; fileParallelism?: boolean; maxWorkers?: number; sequence: { groupOrder: number } },
) => ({
  extends: true as const,
  test: {
    name,
    root: './acceptance',
    include: ['src/**/*.test.ts'],
    setupFiles: [DECLARED_REFUSALS, RUN_DATABASE],
    ...settings,
  },
});

export default defineConfig({
  ...source,
  test: {
    // They end what hangs, and judge nobody for being slow: a machine that is busy with something else takes many times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 50 } },
    reporters: ['default', new TotalsReporter()],
    // On two cores vitest would take one: half of what a test does is to wait for a database.
    maxWorkers: 2,
    // One embedded PostgreSQL for the run; only tests that ask for a database start it.
    globalSetup: [
      './scripts/scratch-folder.setup.ts',
      './server/src/adapters/postgres/test-database.setup.ts',
      './server/src/adapters/redis/test-redis.setup.ts',
    ],
    projects: [
      unit('contract', './contract'),
      unit('server', './server', [PROPERTY_SEED, DECLARED_REFUSALS]),
      unit('sdk', './sdk'),
      unit('cli', './cli'),
      unit('receipts', './packages/receipts', [PROPERTY_SEED]),
      unit('witness', './packages/witness'),
      unit('fake-upstream', './packages/fake-upstream'),
      unit('fake-stripe', './packages/fake-stripe'),
      unit('receipt-anchor', './packages/receipt-anchor'),
      acceptance('acceptance', { exclude: UNDER_LOAD, maxWorkers: 3, sequence: { groupOrder: 1 } }),
      acceptance('acceptance-load', { include: UNDER_LOAD, fileParallelism: false, sequence: { groupOrder: 2 } }),
      { extends: true as const, test: { name: 'architecture', root: './scripts', include: ['*.test.ts'] } },
    ],
  },
});
