import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/main.ts'],
  format: ['esm'],
  clean: true,
  target: 'node22',
  // What is imported lazily stays in files of its own: a command that needs no client loads none.
  splitting: true,
  noExternal: [/^@tallygate\//],
  esbuildOptions: (options) => {
    options.conditions = ['tallygate-source'];
  },
});
