import { defineConfig, type Options } from 'tsup';

const common: Options = {
  dts: true,
  target: 'es2022',
  platform: 'neutral',
  // Comments are in the declarations; names stay, so that stack traces can be read.
  esbuildOptions(options) {
    options.minifyWhitespace = true;
  },
};

export default defineConfig([
  // Both entries from one build: what they share, the classes of errors above all, exists once.
  { ...common, entry: { index: 'src/index.ts', ai: 'src/ai/index.ts' }, format: ['esm'] },
  // The AI SDK has no CommonJS, so its provider has none either.
  { ...common, entry: { index: 'src/index.ts' }, format: ['cjs'] },
]);
