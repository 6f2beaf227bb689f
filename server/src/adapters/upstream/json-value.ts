import { readJson } from '../../kernel/read-json.ts';

/** A JSON object as it came: nothing in it is trusted to have its type. */
export type Json = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects in a list; empty where it is none. */
export const recordsIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** A text that says something. */
export const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

export const countIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;

/** Undefined where the text is no JSON; JSON itself has no undefined. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same of what may be large: other work has its turn meanwhile. */
export async function jsonInBytes(bytes: Buffer): Promise<unknown> {
  try {
    return await readJson(bytes);
  } catch {
    return undefined;
  }
}
