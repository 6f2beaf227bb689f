import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  dts: true,
  clean: true,
  target: 'es2022',
  // Neutral keeps every Node built-in out: one that slipped in would fail the build instead of a browser.
  platform: 'neutral',
});
