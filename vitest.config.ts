import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { TotalsReporter } from './scripts/totals-reporter.ts';

const PROPERTY_SEED = fileURLToPath(new URL('./scripts/property-seed.setup.ts', import.meta.url));
const source = { ssr: { resolve: { conditions: ['tallygate-source', 'node'] } } };
const unit = (name: string, root: string, setupFiles: string[] = []) => ({
  extends: true as const,
  test: { name, root, include: ['src/**/*.test.ts'], setupFiles, testTimeout: 60_000, hookTimeout: 60_000 },
});

export default defineConfig({
  ...source,
  test: {
    reporters: ['default', new TotalsReporter()],
    // One embedded PostgreSQL for the run; only tests that ask for a database start it.
    globalSetup: ['./server/src/adapters/postgres/test-database.setup.ts', './server/src/adapters/redis/test-redis.setup.ts'],
    projects: [
      unit('contract', './contract'),
      unit('server', './server', [PROPERTY_SEED]),
      unit('sdk', './sdk'),
      unit('cli', './cli'),
      unit('receipts', './packages/receipts', [PROPERTY_SEED]),
      unit('witness', './packages/witness'),
      unit('fake-upstream', './packages/fake-upstream'),
      unit('fake-stripe', './packages/fake-stripe'),
      unit('receipt-anchor', './packages/receipt-anchor'),
      {
        extends: true as const,
        test: {
          name: 'acceptance',
          root: './acceptance',
          include: ['src/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Real processes on a shared machine: what passes only at the second try is named at the end, with what went wrong at the first.
          retry: 1,
          // Every file starts a server of its own and some put load on it: one at a time, and after all other tests.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true as const, test: { name: 'architecture', root: './scripts', include: ['*.test.ts'], testTimeout: 30_000 } },
    ],
  },
});
