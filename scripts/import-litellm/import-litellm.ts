import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { importKeys } from './keys.ts';
import { importProviders, type LitellmEntry } from './providers.ts';
import { importSettings } from './settings.ts';

/** Before the commands of keys. Each prints its secret once, as JSON. */
const HEAD_OF_KEYS = ['set -e', `id_of() { node -p 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).key_id'; }`];
const USAGE = 'Usage: tallygate-server import-litellm CONFIG.YAML [--keys KEYS.CSV] [--to FOLDER]\n';

/** Reads what LiteLLM was told, and writes what says the same here. Nothing is asked or changed elsewhere. @returns the exit code */
export function importLitellm(argv: readonly string[], nowMs: number, say: (text: string) => void): number {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { keys: { type: 'string' }, to: { type: 'string', default: 'import' } },
  });
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    say(USAGE);
    return 64;
  }
  const config = configOf(readFileSync(path, 'utf8'));
  const { providers, prices, leftOut } = importProviders(modelList(config));
  const settings = importSettings(config);
  const keys = values.keys === undefined ? undefined : importKeys(readFileSync(values.keys, 'utf8'), nowMs);
  mkdirSync(values.to, { recursive: true });
  const files = {
    'providers.json': `${JSON.stringify({ providers }, null, 2)}\n`,
    'prices.sh': linesOf(prices),
    ...(settings.limits.length > 0 && { 'limits.sh': linesOf(settings.limits) }),
    ...(keys && { 'keys.sh': linesOf([...HEAD_OF_KEYS, ...keys.commands]) }),
    'left-out.txt': linesOf([...leftOut, ...settings.leftOut, ...(keys?.leftOut ?? [])]),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(values.to, name), text);
  const counts = `${providers.length} providers, ${prices.length} prices, ${keys?.count ?? 0} keys`;
  say(`${counts} are in ${values.to}; what has no counterpart is in left-out.txt there.\n`);
  return 0;
}

const linesOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

function configOf(text: string): Readonly<Record<string, unknown>> {
  const config: unknown = parse(text);
  return typeof config === 'object' && config !== null ? { ...config } : {};
}

function modelList({ model_list: list }: Readonly<Record<string, unknown>>): LitellmEntry[] {
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'object' && entry !== null) : [];
}
