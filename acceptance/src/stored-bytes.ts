import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a folder. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Those of them that hold a text. */
export const filesWith = (folder: string, text: string): string[] => filesIn(folder).filter((path) => readFileSync(path).includes(text));
