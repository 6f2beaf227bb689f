// Rewrites the shipped list of models from copies of public price lists: CONTRIBUTING.md, "Refresh the models".
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { modelsOfShippedFile } from '../server/src/money/catalog/entry.ts';
import type { Read } from './refresh-models/listing.ts';
import { readLitellm } from './refresh-models/litellm.ts';
import { merged, type Source, type Sourced } from './refresh-models/merge.ts';
import { readModelsDev } from './refresh-models/models-dev.ts';
import { type Change, refreshed, type ShippedFile } from './refresh-models/shipped-file.ts';

const PROVIDERS = [
  'anthropic',
  'azure',
  'bedrock',
  'cohere',
  'deepseek',
  'fireworks',
  'google',
  'groq',
  'jina',
  'mistral',
  'openai',
  'openrouter',
  'together',
  'vertex',
  'xai',
];
const LITELLM_PATH = 'model_prices_and_context_window.json';
const LITELLM_URL = `https://raw.githubusercontent.com/BerriAI/litellm/main/${LITELLM_PATH}`;
const MODELS_DEV_URL = 'https://models.dev/api.json';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    litellm: { type: 'string' },
    'litellm-release': { type: 'string' },
    'litellm-day': { type: 'string' },
    'models-dev': { type: 'string' },
    'models-dev-day': { type: 'string' },
    download: { type: 'boolean', default: false },
    today: { type: 'string', default: new Date().toISOString().slice(0, 10) },
    folder: { type: 'string', default: join(root, 'server/src/money/catalog/shipped') },
  },
});
const today = values.today;

const sources = [
  await source('litellm', readLitellm, values.download ? LITELLM_URL : values.litellm, values['litellm-day']),
  await source('models.dev', readModelsDev, values.download ? MODELS_DEV_URL : values['models-dev'], values['models-dev-day']),
].flatMap((one) => one ?? []);
// What one list has and the other has not would be taken out of every entry.
if (sources.length < 2)
  throw new Error(
    'Name a copy of both lists with its day (--litellm FILE --litellm-day DAY --models-dev FILE --models-dev-day DAY), or --download',
  );

const files = PROVIDERS.map((provider) => ({ provider, path: join(values.folder, `${provider}.json`) })).map(({ provider, path }) => ({
  path,
  before: existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ShippedFile) : { provider, sources: {}, models: [] },
}));
const found = merged(sources, new Set(files.flatMap(({ before }) => before.models.map(({ id }) => id))));
const results = files.map(({ path, before }) => {
  const mine = found.filter(({ provider }) => provider === before.provider);
  const { file, changes } = refreshed(before, mine, { today, sources: sources.map((one) => one.source) });
  modelsOfShippedFile(file);
  return { path, file, changes };
});
for (const { path, file, changes } of results) {
  writeFileSync(path, formatted(file));
  report(file, changes);
}

async function source(
  name: string,
  read: (content: unknown) => Read,
  place: string | undefined,
  day?: string,
): Promise<Sourced | undefined> {
  if (place === undefined) return undefined;
  const said = place.startsWith('https:') ? today : day;
  if (said === undefined) throw new Error(`Give the day of ${place} (--${name.replace('.', '-')}-day)`);
  const { listings, skipped } = read(place.startsWith('https:') ? await downloaded(place) : JSON.parse(readFileSync(place, 'utf8')));
  const reasons = Object.entries(Object.groupBy(skipped, ({ reason }) => reason)).map(([reason, rows = []]) => `${rows.length} ${reason}`);
  console.error(`${name}: ${listings.length} rows read; left out: ${reasons.join(', ')}`);
  return { source: citedAs(name, said), listings };
}

async function downloaded(url: string): Promise<unknown> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return answer.json();
}

function citedAs(name: string, day: string): Source {
  const release = values['litellm-release'];
  if (name === 'models.dev') return { list: 'models.dev', name: `models.dev ${day}`, day, cited: { url: MODELS_DEV_URL, license: 'MIT' } };
  const cited = release ? { package: 'litellm', release, path: `litellm/${LITELLM_PATH}` } : { url: LITELLM_URL };
  return { list: 'litellm', name: `litellm ${release ?? day}`, day, cited: { ...cited, license: 'MIT' } };
}

/** As `npm run fix` would leave it. */
function formatted(file: ShippedFile): string {
  const biome = join(root, 'node_modules/.bin/biome');
  return execFileSync(biome, ['format', '--stdin-file-path=shipped.json'], {
    input: JSON.stringify(file),
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
}

function report({ provider, models }: ShippedFile, changes: readonly Change[]): void {
  const counts = Object.entries(Object.groupBy(changes, ({ what }) => what)).map(([what, list = []]) => `${list.length} ${what}`);
  console.error(`${provider}: ${models.length} models; ${counts.join(', ') || 'nothing changed'}`);
  for (const { id, what, detail } of changes) if (detail) console.error(`  ${what}: ${id}: ${detail}`);
}
