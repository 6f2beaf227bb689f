import type { Steps } from '../../../../kernel/turn.ts';
import { type Alternative, alternatives } from './alternatives.ts';
import {
  isRecord,
  type Keywords,
  listAt,
  numberAt,
  recordAt,
  type Schema,
  stringsAt,
  TYPES,
  type TypeName,
  typesOf,
} from './json-schema.ts';
import { SchemaRefusal } from './refusal.ts';
import { numbers, strings } from './scalars.ts';
import { itemSchema, prefixOf, SchemaDocument } from './schema-document.ts';
import { distinct, firstThat, take } from './take.ts';

export type Sample = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** Of one sample; its check and its search take some ten milliseconds together in a cold process. */
const STEPS = 8_000;
/** So many samples of one request may take the whole of it. */
const SHARES = 5;
const LARGEST_SCHEMA = 20_000;
const DEEPEST_SCHEMA = 200;
const DEEPEST_VALUE = 24;
const LONGEST_ARRAY = 10_000;
const VARIANTS_PER_PROPERTY = 30;

/**
 * A value that is valid against `schema`; the same one every time. It is as full as a model's answer would be (optional
 * properties present, one item in a list), and bare where the schema refers back to itself.
 * Every value is checked before it is handed out: where none is found, the reason says so.
 * @param shared with how many others the work of a request is; a hundred steps suffice for a small object
 */
export function* sampling(schema: Schema, shared = 1): Steps<Sample> {
  if (!isReasonable(schema))
    return { ok: false, reason: `it is larger than ${LARGEST_SCHEMA} values or nested deeper than ${DEEPEST_SCHEMA}` };
  let reason = 'no value that fits the schema was found';
  for (const full of [true, false]) {
    try {
      const document = new SchemaDocument(schema, shared <= SHARES ? STEPS : (STEPS * SHARES) / shared);
      const place = { document, depth: 0, deepest: DEEPEST_VALUE, open: new Set(['#']), full, name: 'value' };
      for (const value of values(schema, place)) return { ok: true, value };
    } catch (error) {
      if (!(error instanceof SchemaRefusal)) throw error;
      reason = error.message;
    }
    yield;
  }
  return { ok: false, reason };
}

/** Whether the schema is small and flat enough to be worked on by functions that call themselves. */
function isReasonable(schema: Schema): boolean {
  let level: unknown[] = [schema];
  let size = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    size += level.length;
    if (depth > DEEPEST_SCHEMA || size > LARGEST_SCHEMA) return false;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return true;
}

/** Where in the value we are. */
interface Place {
  readonly document: SchemaDocument;
  readonly depth: number;
  /** No value is made below this depth. */
  readonly deepest: number;
  /** The references that we are inside of. */
  readonly open: ReadonlySet<string>;
  /** Whether what is optional is filled in. */
  readonly full: boolean;
  /** The property's name, for text that says where it belongs. */
  readonly name: string;
}

/** Values that are valid against `schema`, the most natural first; lazily, and none twice in a row where one is enough. */
function* values(schema: Schema, place: Place): Generator<unknown> {
  const { document, depth, deepest } = place;
  document.work.spend(1);
  if (depth > deepest) return;
  for (const alternative of alternatives(document, schema)) {
    for (const value of valuesOf(alternative, place)) {
      if (document.accepts(schema, value)) yield value;
    }
  }
}

function* valuesOf({ keywords, references }: Alternative, place: Place): Generator<unknown> {
  const open = new Set([...place.open, ...references]);
  const isRecursive = references.some((reference) => place.open.has(reference));
  if (!place.full || !isRecursive) {
    yield* shapesOf(keywords, { ...place, open });
    return;
  }
  // Inside itself, the schema gets the shallowest value there is: a tree whose nodes all have two children ends at once.
  for (let deepest = place.depth; deepest <= place.deepest; deepest += 1) {
    let found = false;
    for (const value of shapesOf(keywords, { ...place, open, full: false, deepest })) {
      found = true;
      yield value;
    }
    if (found) return;
  }
}

function* shapesOf(keywords: Keywords, place: Place): Generator<unknown> {
  if (Object.hasOwn(keywords, 'const')) {
    yield keywords['const'];
    return;
  }
  if (Array.isArray(keywords['enum'])) {
    yield* keywords['enum'];
    return;
  }
  // What the author of the schema put down as typical says more than anything made up.
  if (place.full) {
    if (Object.hasOwn(keywords, 'default')) yield keywords['default'];
    yield* listAt(keywords, 'examples');
  }
  for (const type of typesInOrder(keywords)) yield* ofType(type, keywords, place);
}

/** Types named, or else the one that the keywords suggest before all others; null last. */
function typesInOrder(keywords: Keywords): readonly TypeName[] {
  const suggests = (...names: string[]) => names.some((name) => Object.hasOwn(keywords, name));
  const likely: TypeName[] = [];
  if (suggests('properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties')) likely.push('object');
  if (suggests('items', 'prefixItems', 'minItems', 'contains')) likely.push('array');
  if (suggests('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) likely.push('number');
  return typesOf(keywords) ?? [...new Set([...likely, ...TYPES])];
}

function ofType(name: TypeName, keywords: Keywords, place: Place): Iterable<unknown> {
  switch (name) {
    case 'string':
      return strings(keywords, place.name, place.document);
    case 'integer':
    case 'number':
      return numbers(keywords);
    case 'boolean':
      return [true, false];
    case 'null':
      return [null];
    case 'array':
      return arrays(keywords, place);
    case 'object':
      return objects(keywords, place);
    default:
      return name satisfies never;
  }
}

function* arrays(keywords: Keywords, place: Place): Generator<unknown[]> {
  const least = numberAt(keywords, 'minItems') ?? 0;
  const most = numberAt(keywords, 'maxItems') ?? Infinity;
  const contained = keywords['contains'] === undefined ? 0 : (numberAt(keywords, 'minContains') ?? 1);
  const natural = Math.max(least, contained, prefixOf(keywords).length, 1);
  const lengths = place.full ? [Math.min(natural, most), least, natural + 1] : [least, Math.max(least, contained), natural];
  for (const length of new Set(lengths)) {
    if (length > LONGEST_ARRAY) throw new SchemaRefusal(`a list of ${length} items is longer than the sandbox makes`);
    const items = itemsOf(keywords, length, contained, place);
    if (items) yield items;
  }
}

function itemsOf(keywords: Keywords, length: number, contained: number, place: Place): unknown[] | undefined {
  const items: unknown[] = [];
  const inside = { ...place, depth: place.depth + 1 };
  const isUnique = keywords['uniqueItems'] === true;
  for (let index = 0; index < length; index += 1) {
    const schema = itemSchema(keywords, index);
    // What the list must contain goes to its end, where no prefix is in the way.
    const wanted = index >= length - contained ? { allOf: [schema, keywords['contains']] } : schema;
    const isNew = (value: unknown) => !isUnique || !items.some((other) => place.document.equals(other, value));
    const item = firstThat(values(wanted, inside), isNew);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function* objects(keywords: Keywords, place: Place): Generator<Record<string, unknown>> {
  const required = new Set(stringsAt(keywords, 'required'));
  const declared = Object.keys(recordAt(keywords, 'properties'));
  const most = numberAt(keywords, 'maxProperties') ?? Infinity;
  const optional = declared.filter((name) => !required.has(name)).slice(0, Math.max(0, most - required.size));
  const bare = { names: required, spare: [...optional, ...extraNames(keywords, place)] };
  const full = { names: required, spare: bare.spare, also: new Set(optional) };
  for (const plan of place.full ? [full, bare] : [bare]) {
    const built = objectOf(keywords, declared, plan, place);
    if (!built) continue;
    yield built;
    for (const [name, present] of Object.entries(built)) {
      for (const value of take(propertyValues(keywords, name, place), VARIANTS_PER_PROPERTY)) {
        if (!place.document.equals(value, present)) yield Object.fromEntries([...Object.entries(built), [name, value]]);
      }
    }
  }
}

/** Which properties an object gets: those it must have, those it may have, and those that only fill it up to `minProperties`. */
interface ObjectPlan {
  readonly names: ReadonlySet<string>;
  readonly also?: ReadonlySet<string>;
  readonly spare: readonly string[];
}

function objectOf(keywords: Keywords, declared: readonly string[], plan: ObjectPlan, place: Place): Record<string, unknown> | undefined {
  const order = [...new Set([...declared, ...plan.names])].filter((name) => plan.names.has(name) || plan.also?.has(name));
  const entries = new Map<string, unknown>();
  for (const name of order) {
    const [value] = take(propertyValues(keywords, name, place), 1);
    if (value !== undefined) entries.set(name, value);
    else if (plan.names.has(name)) return undefined;
  }
  for (const name of plan.spare) {
    if (entries.size >= (numberAt(keywords, 'minProperties') ?? 0)) break;
    const [value] = entries.has(name) ? [] : take(propertyValues(keywords, name, place), 1);
    if (value !== undefined) entries.set(name, value);
  }
  // From entries: a property may be called `__proto__`.
  return Object.fromEntries(entries);
}

function propertyValues(keywords: Keywords, name: string, place: Place): Generator<unknown> {
  const schemas = place.document.propertySchemas(keywords, name);
  const [only] = schemas;
  return values(schemas.length === 1 ? only : { allOf: schemas }, { ...place, depth: place.depth + 1, name });
}

/** Names that fit where properties are wanted that nobody declared. */
function extraNames(keywords: Keywords, place: Place): string[] {
  const missing = numberAt(keywords, 'minProperties') ?? 0;
  if (missing > LONGEST_ARRAY) throw new SchemaRefusal(`an object of ${missing} properties is larger than the sandbox makes`);
  const wanted = Array.from({ length: missing }, (_, index) => `extra_${index + 1}`);
  const matching = Object.keys(recordAt(keywords, 'patternProperties')).flatMap((pattern) =>
    Array.from(take(distinct(strings({ pattern }, '', place.document)), missing)),
  );
  const { propertyNames } = keywords;
  const named = isRecord(propertyNames) ? take(values({ type: 'string', ...propertyNames }, place), missing) : [];
  return [...matching, ...Array.from(named).filter((name) => typeof name === 'string'), ...wanted];
}
