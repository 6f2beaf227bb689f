import { readJson } from './read-json.ts';
import { encodedText } from './text-bytes.ts';
import { breather } from './turn.ts';
import { isSmall, writtenJson } from './written-json.ts';

/**
 * What a model gives to a tool. OpenAI has it as a text of JSON, the others as a value: what is large is written, or read, before a
 * conversation is translated, so that other work has its turn meanwhile.
 */
export type WrittenArguments = ReadonlyMap<unknown, string>;
export type ReadArguments = ReadonlyMap<string, unknown>;

export const NONE_WRITTEN: WrittenArguments = new Map();
export const NONE_READ: ReadArguments = new Map();

/** The JSON of those that are large. */
export async function writtenArguments(all: Iterable<unknown>): Promise<WrittenArguments> {
  const written = new Map<unknown, string>();
  const rest = breather();
  for (const one of all) {
    if (!isSmall(one)) written.set(one, (await writtenJson(one)).toString('utf8'));
    await rest();
  }
  return written;
}

export const argumentsText = (given: unknown, written: WrittenArguments): string => written.get(given) ?? JSON.stringify(given ?? {});

/** The values of those that are large. */
export async function readArguments(all: Iterable<string>): Promise<ReadArguments> {
  const read = new Map<string, unknown>();
  for (const text of all) if (!isSmall(text)) read.set(text, await parsedText(text));
  return read;
}

async function parsedText(text: string): Promise<unknown> {
  const bytes = await encodedText(text);
  try {
    return await readJson(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined where the text is no JSON. */
export function argumentsOf(text: string, read: ReadArguments): unknown {
  if (read.has(text)) return read.get(text);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
