import { copyFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Options } from 'tsup';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const fileHere = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/**
 * Commander can start programs as its subcommands, and imports what that takes; nothing here does. Importing `node:process` alone reads
 * every property of `process`, which makes stdin, stdout and stderr and the list of Node's flags.
 */
const leanCommander: Plugin = {
  name: 'lean-commander',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:(process|child_process|fs)$/ }, ({ path, importer }) =>
      /[\\/]commander[\\/]lib[\\/]/.test(importer) ? { path, namespace: 'lean' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'lean' }, ({ path }) => ({
      contents: path === 'node:process' ? 'export default globalThis.process;' : 'export default {};',
    }));
  },
};

export default defineConfig(({ outDir = 'dist' }) => ({
  entry: ['src/main.ts'],
  format: ['esm'],
  clean: true,
  target: 'node22',
  // What is imported lazily stays in files of its own: a command loads what it needs and no other.
  splitting: true,
  // Commander is built in: finding and reading its six files would take a tenth of the start.
  noExternal: [/^@tallygate\//, 'commander'],
  // Otherwise tsup settles every `node:` import before the plugin is asked.
  removeNodeProtocol: false,
  esbuildPlugins: [leanCommander],
  esbuildOptions: (options) => {
    options.conditions = ['tallygate-source'];
    // Names stay: a stack that somebody sends in is to be read.
    options.minifyWhitespace = true;
    options.minifySyntax = true;
  },
  // Its license wants to go along.
  onSuccess: () => copyFile(fileHere('node_modules/commander/LICENSE'), fileHere(`${outDir}/commander.LICENSE`)),
}));
