import { isTooComplex } from '../../kernel/json-scan.ts';
import { jsonSoFar } from '../../kernel/json-so-far.ts';
import { readJson } from '../../kernel/read-json.ts';
import { isRecord } from './usage.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Whether it may be an event that says what was used, or ends its stream: all that is wanted behind an event that was left out. */
export const mayTellUsage = (event: Buffer): boolean => TELLING.some((name) => event.includes(name));
const TELLING = ['"usage', '"error"', '[DONE]'].map((name) => Buffer.from(name));

/** What is longer, because it carries pictures or sound, is looked at in pieces: other work has its turn between them. */
export const LONGEST_PARSED = 256 * 1024;

const DATA = Buffer.from('data:');
const LF = 10;
/** Of a line in front of the data: a name. */
const LONGEST_NAME = 1_024;
/** `event`, `id` and `retry`. */
const MOST_LINES_BEFORE = 3;

/** The event's data, its lines joined (WHATWG HTML §9.2.6); undefined when it has none. */
export function dataOf(event: string): string | undefined {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return lines.length === 0
    ? undefined
    : lines
        .map((line) => line.slice('data:'.length))
        .join('\n')
        .trim();
}

/** What the event is called. */
export const nameOf = (event: string): string | undefined => /^event: *(\S+)/m.exec(event)?.[1];

/** Whether clients can parse it. Latin-1 will do, and is read faster: JSON asks nothing of what is beyond ASCII. */
export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function jsonOf(data: string | undefined): Json | undefined {
  // What is no JSON costs an error with its stack.
  if (!data?.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(data);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Also as Google calls it, `usageMetadata`. */
export const USAGE = Buffer.from('"usage');

/** What an event says that breaks off in its usage, or behind it; undefined where it has none. Large ones are not looked into. */
export function eventSoFar(event: Buffer): Json | undefined {
  if (event.length > LONGEST_PARSED || !event.includes(USAGE)) return undefined;
  const said = jsonSoFar(dataOf(event.toString('utf8')) ?? '');
  return isRecord(said) ? said : undefined;
}

/** The one line of data of a large event. In any other form nobody sends one: undefined. */
export function lineOfData(event: Buffer): { readonly name: string | undefined; readonly line: Buffer } | undefined {
  let from = 0;
  for (let lines = 0; lines < MOST_LINES_BEFORE; lines += 1) {
    if (event.subarray(from, from + DATA.length).equals(DATA)) break;
    const end = event.indexOf(LF, from);
    if (end < 0 || end - from > LONGEST_NAME) return undefined;
    from = end + 1;
  }
  const end = event.indexOf(LF, from);
  const isOneLine = event.subarray(from, from + DATA.length).equals(DATA) && (end < 0 || isBlank(event, end));
  if (!isOneLine) return undefined;
  return { name: nameOf(event.toString('latin1', 0, from)), line: event.subarray(from + DATA.length, end < 0 ? event.length : end) };
}

const isBlank = (event: Buffer, from: number): boolean =>
  event.length - from <= LONGEST_NAME && event.toString('latin1', from).trim() === '';

/** A large event; its value is undefined where that is too complex to be parsed. */
export interface LargeEvent {
  readonly name: string | undefined;
  readonly value: Json | undefined;
}

/** Undefined where it is no object in one line of data. */
export async function readLarge(event: Buffer): Promise<LargeEvent | undefined> {
  const found = lineOfData(event);
  if (!found) return undefined;
  const { name, line } = found;
  if (await isTooComplex(line)) return { name, value: undefined };
  try {
    const value = await readJson(line);
    return isRecord(value) ? { name, value } : undefined;
  } catch {
    return undefined;
  }
}
