import { jsonSoFar } from './json-so-far.ts';

/**
 * What a provider says of its usage, wherever it says it and however it writes it: the names, the forms of numbers and the places of every
 * dialect, and of the servers that imitate one. What the counts mean, each dialect knows.
 */

type Json = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** `promptTokens`, `PromptTokens` and `prompt-tokens` as `prompt_tokens`. */
const inSnakeCase = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();

const NAMES = new Set(['usage', 'usage_metadata', 'token_usage', 'billed_units']);
/** Such a name is of a count, or has the counts of parts. */
const COUNTED = /token|search_?units/i;
const UNUSUAL = /[A-Z-]/;

/** What can be said of a member by its name. */
interface NameFacts {
  readonly snake: string;
  readonly isUsage: boolean;
  readonly isCounted: boolean;
  readonly isUnusual: boolean;
}

/** Every answer has the same few dozen names: each is looked at once. Names that somebody makes up fill it, and are looked at every time from then on. */
const known = new Map<string, NameFacts>();
const MOST_KNOWN = 1_000;
const LONGEST_KNOWN = 100;

function factsOf(name: string): NameFacts {
  const before = known.get(name);
  if (before) return before;
  const snake = inSnakeCase(name);
  const facts = { snake, isUsage: NAMES.has(snake), isCounted: COUNTED.test(name), isUnusual: UNUSUAL.test(name) };
  if (known.size < MOST_KNOWN && name.length <= LONGEST_KNOWN) known.set(name, facts);
  return facts;
}

export const isUsageName = (name: string): boolean => factsOf(name).isUsage;

/** Small members of an answer that some providers say their usage in. */
const HOLDERS = new Set(['meta', 'metadata', 'x_groq', 'response', 'message']);

/** What a member of a document is read for that is not parsed as a whole: it is its usage, or an object that may have it. */
export const mayHoldUsage = (name: string): boolean => isUsageName(name) || HOLDERS.has(name);

/** `response.usage`, `x_groq.usage`, `meta.billed_units`, `error.metadata.usage`. */
const DEEPEST = 3;
/** Objects that repeat what the caller or the model wrote. */
const WRITTEN = new Set(['input', 'arguments', 'args', 'parameters', 'prompt', 'text', 'tools', 'tool_choice', 'response_format']);

/** The usage in an answer, an event or an error, as it came; of several the one that says the most, and of those the outermost. */
export function statedUsage(stated: unknown): unknown {
  const found = usagesIn(stated);
  if (found.length <= 1) return found[0];
  const counts = found.map(allTokensOf);
  return found[counts.indexOf(Math.max(...counts))];
}

function usagesIn(stated: unknown): object[] {
  const found: object[] = [];
  let level = isRecord(stated) ? [stated] : [];
  for (let depth = 0; depth <= DEEPEST && level.length > 0; depth += 1) {
    const next: Json[] = [];
    for (const object of level)
      for (const name of Object.keys(object)) {
        const value = object[name];
        if (typeof value !== 'object' || value === null) continue;
        if (isUsageName(name)) found.push(value);
        else if (isRecord(value) && !WRITTEN.has(name)) next.push(value);
      }
    level = next;
  }
  return found;
}

/** To compare two of them. */
function allTokensOf(usage: unknown): number {
  const plain = plainUsage(usage) ?? {};
  const counts = Object.keys(plain).map((name) => plain[name]);
  return counts.reduce<number>((sum, count) => (typeof count === 'number' && count > 0 ? sum + count : sum), 0);
}

/**
 * A usage with its counts as whole numbers under names in snake case; the same object where it is written so. A count may be a text, or have
 * a fraction, which is rounded up. What comes in several parts, the calls of one step for example, is added up.
 */
export function plainUsage(usage: unknown): Json | undefined {
  if (Array.isArray(usage)) return usage.length > 0 && usage.every(isRecord) ? usage.map(ofOne).reduce(added) : undefined;
  return isRecord(usage) ? withIterations(ofOne(usage)) : undefined;
}

function ofOne(usage: Json): Json {
  const names = Object.keys(usage);
  if (names.every((name) => isPlain(name, usage[name]))) return usage;
  const plain: Record<string, unknown> = {};
  for (const name of names) {
    const { isCounted, snake } = factsOf(name);
    const plainName = isCounted ? snake : name;
    const value = usage[name];
    plain[plainName] = larger(plain[plainName], isRecord(value) ? ofOne(value) : isCounted ? plainCount(value) : value);
  }
  return plain;
}

function isPlain(name: string, value: unknown): boolean {
  const { isCounted, isUnusual } = factsOf(name);
  if (isRecord(value)) return !(isCounted && isUnusual) && ofOne(value) === value;
  if (!isCounted) return true;
  return !isUnusual && typeof value !== 'string' && (typeof value !== 'number' || Number.isInteger(value));
}

const NUMBER = /^\s*\d+(?:\.\d+)?(?:e\+?\d+)?\s*$/i;

function plainCount(value: unknown): unknown {
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? Math.ceil(number) : number;
}

/** Of one count under two names. */
const larger = (one: unknown, other: unknown): unknown =>
  typeof one === 'number' && typeof other === 'number' ? Math.max(one, other) : (other ?? one);

/** Anthropic bills each iteration of a call, and counts some of them there alone. */
function withIterations(usage: Json): Json {
  const { iterations } = usage;
  if (!Array.isArray(iterations)) return usage;
  const all = iterations.filter(isRecord).map(ofOne).reduce(added, {});
  const sums = Object.keys(all).filter((name) => factsOf(name).isCounted && typeof all[name] === 'number');
  return { ...usage, ...Object.fromEntries(sums.map((name) => [name, larger(usage[name], all[name])])) };
}

function added(one: Json, other: Json): Json {
  const sum: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = sum[name];
    if (typeof before === 'number' && typeof value === 'number') sum[name] = before + value;
    else sum[name] = isRecord(before) && isRecord(value) ? added(before, value) : value;
  }
  return sum;
}

/** More of them in one text are those of a stream's chunks: the last ones tell. */
const MOST_FOUND = 8;
/** A usage is no longer. */
const MOST_CHARACTERS = 4_096;
const NAMED = /"([A-Za-z_-]{5,20})"\s*:\s*(?=[[{])/g;

/**
 * The usage that says the most of all in a text that is no document, or has it in an unknown place: inside of a JSON string quotes are
 * escaped, so these are members. Marked, since it is the least that is known.
 */
export function usageInText(text: string): Json | undefined {
  const named = [...text.matchAll(NAMED)].filter(([, name]) => isUsageName(name ?? '')).slice(-MOST_FOUND);
  const found = named.map(({ index, 0: name }) => plainUsage(jsonSoFar(valueAt(text, index + name.length)))).filter(isRecord);
  return found.length === 0 ? undefined : { ...found.reduce(largest), is_partial: true };
}

/** Each count as the largest that is said: a stream says the prompt at its beginning, and the rest at its end. */
export function largest(one: Json, other: Json): Json {
  const most: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = most[name];
    most[name] = isRecord(before) && isRecord(value) ? largest(before, value) : larger(before, value);
  }
  return most;
}

/** From its bracket to the one that closes it. Its members are counts and names, which have no brackets. */
function valueAt(text: string, from: number): string {
  let depth = 0;
  const most = Math.min(text.length, from + MOST_CHARACTERS);
  for (let at = from; at < most; at += 1) {
    if (text[at] === '{' || text[at] === '[') depth += 1;
    else if (text[at] === '}' || text[at] === ']') depth -= 1;
    if (depth === 0) return text.slice(from, at + 1);
  }
  return text.slice(from, most);
}
