import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { importKeys } from './keys.ts';
import { importProviders, type LitellmEntry } from './providers.ts';

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
  const { providers, prices, leftOut } = importProviders(modelList(readFileSync(path, 'utf8')));
  const keys = values.keys === undefined ? undefined : importKeys(readFileSync(values.keys, 'utf8'), nowMs);
  mkdirSync(values.to, { recursive: true });
  const files = {
    'providers.json': `${JSON.stringify({ providers }, null, 2)}\n`,
    'prices.sh': linesOf(prices),
    ...(keys && { 'keys.sh': linesOf(keys.commands) }),
    'left-out.txt': linesOf([...leftOut, ...(keys?.leftOut ?? [])]),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(values.to, name), text);
  const counts = `${providers.length} providers, ${prices.length} prices, ${keys?.commands.length ?? 0} keys`;
  say(`${counts} are in ${values.to}; what has no counterpart is in left-out.txt there.\n`);
  return 0;
}

const linesOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

function modelList(text: string): LitellmEntry[] {
  const config: unknown = parse(text);
  const list = typeof config === 'object' && config !== null && 'model_list' in config ? config.model_list : undefined;
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'object' && entry !== null) : [];
}
