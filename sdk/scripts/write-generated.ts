import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Writes a generated file, or with `--check` on the command line only compares: exit code 1 when the committed file is stale.
 * @param path relative to the caller's module
 */
export function writeGenerated(path: string, from: string, text: string): void {
  const file = fileURLToPath(new URL(path, from));
  const isFresh = existsSync(file) && readFileSync(file, 'utf8') === text;
  if (isFresh) return;
  if (process.argv.includes('--check')) {
    console.error(`${file} is stale: run \`npm run generate\`.`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(file, text);
  console.error(`wrote ${file}`);
}
