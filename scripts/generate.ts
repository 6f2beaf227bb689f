// Writes everything that follows from the contract, or with --check says what no longer does.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fieldsModule } from '../cli/scripts/generate-fields.ts';
import { manText } from '../cli/scripts/generate-man.ts';
import { openApiDocument } from '../contract/src/openapi.ts';
import { errorsModule } from '../sdk/scripts/generate-errors.ts';
import { modelsModule } from '../sdk/scripts/generate-models.ts';
import { clientModule, resourcesModule } from '../sdk/scripts/generate-resources.ts';
import { errorPages } from './error-pages.ts';
import { providerPresetsPage } from './provider-presets-page.ts';
import { settingsPage } from './settings-page.ts';

const root = dirname(import.meta.dirname);
/** Folders with generated files only: any other file in them is a leftover. */
const PURELY_GENERATED = ['cli/man', 'docs/errors'];

const wanted = new Map([
  ['cli/man/tallygate.1', await manText()],
  ['cli/src/generated/fields.ts', fieldsModule()],
  ['contract/openapi.json', `${JSON.stringify(openApiDocument(), null, 2)}\n`],
  ['sdk/src/generated/errors.ts', errorsModule()],
  ['sdk/src/generated/client.ts', clientModule()],
  ['sdk/src/generated/models.ts', modelsModule()],
  ['sdk/src/generated/resources.ts', resourcesModule()],
  ['docs/guides/provider-presets.md', providerPresetsPage()],
  ['docs/guides/settings.md', settingsPage()],
  ...errorPages(),
]);
const stale = [...wanted].filter(([path, text]) => present(path) !== text).map(([path]) => path);
const leftOver = PURELY_GENERATED.flatMap(filesIn).filter((path) => !wanted.has(path));

if (process.argv.includes('--check')) {
  for (const path of stale) console.error(`stale: ${path}`);
  for (const path of leftOver) console.error(`left over: ${path}`);
  if (stale.length + leftOver.length > 0) {
    console.error('Run `npm run generate` and commit the result.');
    process.exitCode = 1;
  }
} else {
  for (const path of stale) write(path, wanted.get(path) ?? '');
  for (const path of leftOver) rmSync(join(root, path));
  console.error(`${stale.length} written, ${leftOver.length} removed, ${wanted.size - stale.length} were fresh`);
}

function present(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return undefined;
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
  } catch {
    return [];
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
