import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The maximum that an import of the entry loads from its own package: bytes, gzipped. */
const LIMITS: Readonly<Record<string, number>> = {
  '@tallygate/sdk/dist/index.js': 20_000,
  '@tallygate/sdk/dist/ai.js': 8_200,
  // With the check of the chain of declarations, which keeps a list from leaving one out.
  '@tallygate/receipts/dist/index.js': 41_000,
};
/**
 * What the terminal's program may weigh: the sum of its parts, bytes, each gzipped by itself. In one row they lie in the order of their hashed
 * names, which any change shuffles: that alone moved it by 900 bytes.
 */
const PROGRAM = 'tallygate/dist';
const MAX_PROGRAM_BYTES = 210_000;
/** What belongs to the build and must not reach a user: schemas are types there, and the published code runs where there is no Node. */
const FOREIGN =
  /\bfrom\s*['"](?!\.|@tallygate\/receipts['"]|tweetnacl['"]|@ai-sdk\/openai-compatible['"])|\brequire\(|zod|ts-rest|@tallygate\/contract/;

/** Prints the size of each entry. @returns entries that are too large, or load forbidden modules */
export function sizeFaults(modules: string): string[] {
  const entries = Object.entries(LIMITS).map(([entry, limit]) => ({ entry, limit, parts: [codeOf(join(modules, entry))] }));
  const folder = join(modules, PROGRAM);
  const program = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  return [
    ...entries.flatMap(({ entry, parts: [code = ''] }) => (FOREIGN.test(code) ? [`${entry} brings along ${FOREIGN.exec(code)?.[0]}`] : [])),
    ...[...entries, { entry: PROGRAM, limit: MAX_PROGRAM_BYTES, parts: program }].flatMap(({ entry, limit, parts }) => {
      const bytes = parts.reduce((sum, code) => sum + gzipSync(code).length, 0);
      console.error(`     ${entry.padEnd(36)} ${`${bytes}`.padStart(7)} bytes gzipped, of ${limit}`);
      return bytes > limit ? [`${entry} weighs ${bytes} bytes gzipped, more than ${limit}`] : [];
    }),
  ];
}

/** A module with its imports of the same package, each once. */
function codeOf(entry: string, seen = new Set<string>()): string {
  if (seen.has(entry)) return '';
  seen.add(entry);
  const code = readFileSync(entry, 'utf8');
  const imports = [...code.matchAll(/(?:from|import)\s*["'](\.[^"']+)["']/g)].map(([, path = '']) => path);
  return [code, ...imports.map((path) => codeOf(join(dirname(entry), path), seen))].join('');
}
