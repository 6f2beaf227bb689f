import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  dts: true,
  clean: true,
  target: 'es2022',
  platform: 'neutral',
  // Comments are in the declarations; names stay, so that stack traces can be read.
  esbuildOptions(options) {
    options.minifyWhitespace = true;
  },
});
