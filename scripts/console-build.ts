// The console as browsers load it: one page, its scripts in parts that are loaded when they are needed, each text beside its compressed form.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { build, Metafile } from 'esbuild';

const root = join(import.meta.dirname, '..');
const PAGE = 'console/index.html';
/** The best, 11, takes ten times as long for a tenth less. */
const QUALITY = 6;

/**
 * Builds the console into a folder.
 *
 * @returns the sources, by their paths from the root
 */
export async function buildConsole(bundle: typeof build, folder: string): Promise<string[]> {
  const assets = join(folder, 'assets');
  const { metafile } = await bundle({
    absWorkingDir: root,
    entryPoints: { main: 'console/src/main.tsx' },
    outdir: assets,
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    conditions: ['tallygate-source'],
    define: { 'process.env.NODE_ENV': '"production"' },
    // What is in a file is in its name, so that browsers keep it for ever.
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    logLevel: 'error',
  });
  writePage(folder, metafile.outputs);
  for (const name of readdirSync(assets)) compress(join(assets, name));
  return [...Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules') && existsSync(join(root, path))), PAGE];
}

type Outputs = Metafile['outputs'];

const baseOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** What a script imports before it runs, and what that imports. */
function importedBy(script: string, outputs: Outputs): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (from: string): void => {
    for (const { kind, path } of outputs[from]?.imports ?? []) {
      if (kind !== 'import-statement' || found.has(path)) continue;
      found.add(path);
      look(path);
    }
  };
  look(script);
  return found;
}

/**
 * The page, with the names that the build has given to its script and its style; and what the script imports, which browsers then load beside
 * it instead of after it.
 */
function writePage(folder: string, outputs: Outputs): void {
  const mainOf = (ending: string): string => {
    const found = Object.keys(outputs).find((path) => new RegExp(`/main-[A-Z0-9]+\\.${ending}$`).test(path));
    if (!found) throw new Error(`The build of the console has no main.${ending}`);
    return found;
  };
  const imported = [...importedBy(mainOf('js'), outputs)].map(
    (path) => `<link rel="modulepreload" href="/console/assets/${baseOf(path)}">`,
  );
  const page = readFileSync(join(root, PAGE), 'utf8');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'index.html'),
    page
      .replace('main.css', baseOf(mainOf('css')))
      .replace('main.js', baseOf(mainOf('js')))
      .replace('  </head>', `    ${imported.join('\n    ')}\n  </head>`),
  );
}

function compress(path: string): void {
  const text = readFileSync(path);
  writeFileSync(`${path}.br`, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }));
  writeFileSync(`${path}.gz`, gzipSync(text, { level: constants.Z_BEST_COMPRESSION }));
}
