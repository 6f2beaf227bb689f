import { readFileSync } from 'node:fs';
import { jsonFaultPosition } from '../kernel/json-fault.ts';
import { ConfigError } from './config-error.ts';

interface JsonFile {
  readonly text: string;
  readonly content: unknown;
}

/**
 * A JSON file that a variable names, as UTF-8, with or without the byte order mark that editors on Windows write.
 * @throws ConfigError without its content, which may be a key
 */
export function readJsonFile(variable: string, path: string): JsonFile {
  const fault = (what: string) => new ConfigError([`${variable} ${path}: ${what}`]);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw fault(cause instanceof Error ? cause.message : 'cannot be read');
  }
  const text = decoded(bytes);
  if (text === undefined) throw fault('It is not UTF-8');
  try {
    return { text, content: JSON.parse(text) };
  } catch {
    const at = jsonFaultPosition(text);
    const before = text.slice(0, at).split('\n');
    throw fault(`It stops being JSON at position ${at}, line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`);
  }
}

/** Without a byte order mark; undefined where it is no UTF-8, as UTF-16 is not. */
function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
