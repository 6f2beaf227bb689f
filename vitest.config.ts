import { defineConfig } from 'vitest/config';

const source = { ssr: { resolve: { conditions: ['tallygate-source', 'module', 'node', 'import', 'default'] } } };
const unit = (name: string, root: string) => ({
  extends: true as const,
  test: { name, root, include: ['src/**/*.test.ts'], testTimeout: 20_000, hookTimeout: 60_000 },
});

export default defineConfig({
  ...source,
  test: {
    projects: [
      unit('contract', './contract'),
      unit('server', './server'),
      unit('sdk', './sdk'),
      unit('cli', './cli'),
      unit('receipts', './packages/receipts'),
      unit('fake-upstream', './packages/fake-upstream'),
    ],
  },
});
