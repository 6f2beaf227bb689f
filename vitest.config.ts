import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TotalsReporter } from './scripts/totals-reporter.ts';

const PROPERTY_SEED = fileURLToPath(new URL('./scripts/property-seed.setup.ts', import.meta.url));
const DECLARED_REFUSALS = fileURLToPath(new URL('./contract/src/openapi/declared-refusals.setup.ts', import.meta.url));
const source = { ssr: { resolve: { conditions: ['tallygate-source', 'node'] } } };
/**
 * What passes only at the second try is named at the end of a run, with what went wrong at the first. Files of a project share their
 * processes, and with them what was imported, which is a third of the time: a test leaves no global thing changed.
 */
const unit = (name: string, root: string, setupFiles: string[] = []) => ({
  extends: true as const,
  test: { name, root, include: ['src/**/*.test.ts'], setupFiles, isolate: false, testTimeout: 60_000, hookTimeout: 60_000, retry: 1 },
});

/** They fill the machine by themselves, or measure how soon something happens. */
const UNDER_LOAD = ['batches', 'money-under-concurrency', 'rate-limits', 'response-headers'].map((name) => `src/${name}.test.ts`);
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
    setupFiles: [DECLARED_REFUSALS],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 1,
    ...settings,
  },
});

export default defineConfig({
  ...source,
  test: {
    reporters: ['default', new TotalsReporter()],
    // On two cores vitest would take one: half of what a test does is to wait for a database.
    maxWorkers: 2,
    // One embedded PostgreSQL for the run; only tests that ask for a database start it.
    globalSetup: ['./server/src/adapters/postgres/test-database.setup.ts', './server/src/adapters/redis/test-redis.setup.ts'],
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
      { extends: true as const, test: { name: 'architecture', root: './scripts', include: ['*.test.ts'], testTimeout: 30_000 } },
    ],
  },
});
