import { defineConfig, type Options } from 'tsup';

const common: Options = { format: ['esm', 'cjs'], dts: true, target: 'es2022' };

export default defineConfig([
  // Neutral keeps every Node built-in out: one that slipped in would fail the build instead of a browser.
  { ...common, entry: ['src/index.ts'], platform: 'neutral' },
  { ...common, entry: ['src/node.ts'], platform: 'node' },
]);
