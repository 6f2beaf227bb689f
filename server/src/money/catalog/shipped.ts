import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type ListedModel, modelsOfShippedFile, uniquely } from './entry.ts';

const FOLDER = new URL('./shipped/', import.meta.url);

/** The list that comes with the gateway, a file for each provider: read when its digest is not the one that the database was filled from. */
export interface ShippedList {
  /** SHA-256 of all files. */
  readonly digest: string;
  /** @throws where an entry has no source, or a price no source and no day */
  models(): ListedModel[];
}

export function shippedList(): ShippedList {
  const files = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, FOLDER), 'utf8') }));
  const hash = createHash('sha256');
  for (const { name, text } of files) hash.update(`${name} ${text.length}\n`).update(text);
  return {
    digest: hash.digest('hex'),
    models: () => uniquely(files.flatMap(({ text }) => modelsOfShippedFile(JSON.parse(text)))),
  };
}
