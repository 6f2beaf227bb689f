import { isRecord, type Keywords, listAt, numberAt, recordAt, resolveReference, type Schema, stringsAt, typesOf } from './json-schema.ts';
import { SchemaRefusal } from './refusal.ts';
import type { SchemaDocument } from './schema-document.ts';

/** One way to satisfy a schema: keywords without references and combinators, and the references that led here. */
export interface Alternative {
  readonly keywords: Keywords;
  readonly references: readonly string[];
}

const DEEPEST = 50;
const STEPS_PER_KEYWORD = 0.1;
const COMBINATORS = new Set(['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', '$defs', 'definitions']);

/**
 * The ways to satisfy `schema`, in the order of its branches. They are where to look, not proof: `not`, the "exactly one" of
 * `oneOf` and the finer points of `allOf` are left to the check of what is made from them.
 */
export function* alternatives(document: SchemaDocument, schema: Schema, depth = 0): Generator<Alternative> {
  document.work.spend(1);
  if (depth > DEEPEST) throw new SchemaRefusal('the schema is nested too deeply, or refers to itself without end');
  if (schema === false) return;
  if (!isRecord(schema)) {
    yield { keywords: {}, references: [] };
    return;
  }
  const keywords = Object.fromEntries(Object.entries(schema).filter(([name]) => !COMBINATORS.has(name)));
  document.work.spend(Object.keys(keywords).length * STEPS_PER_KEYWORD);
  const { $ref } = schema;
  if (typeof $ref !== 'string') {
    yield* combine(document, { keywords, references: [] }, branchesOf(schema), depth);
    return;
  }
  const target = resolveReference(document.root, $ref);
  yield* combine(document, { keywords, references: [$ref] }, [[target], ...branchesOf(schema)], depth);
}

/** All of the outer list have to hold; of each inner list, one. */
function branchesOf(schema: Keywords): Schema[][] {
  const all = listAt(schema, 'allOf').map((one) => [one]);
  const any = ['anyOf', 'oneOf'].filter((name) => Array.isArray(schema[name])).map((name) => [...listAt(schema, name)]);
  const conditional = schema['if'] === undefined ? [] : [[{ allOf: [schema['if'], schema['then'] ?? true] }, schema['else'] ?? true]];
  return [...all, ...any, ...conditional];
}

function* combine(document: SchemaDocument, soFar: Alternative, branches: Schema[][], depth: number): Generator<Alternative> {
  const [next, ...rest] = branches;
  if (!next) {
    yield soFar;
    return;
  }
  for (const branch of next) {
    for (const one of alternatives(document, branch, depth + 1)) {
      document.work.spend(1);
      const keywords = intersect(document, soFar.keywords, one.keywords);
      if (keywords) yield* combine(document, { keywords, references: [...soFar.references, ...one.references] }, rest, depth);
    }
  }
}

/** Keywords that both have to hold; undefined where they plainly cannot. */
function intersect(document: SchemaDocument, left: Keywords, right: Keywords): Keywords | undefined {
  const both: Record<string, unknown> = { ...left };
  for (const [name, value] of Object.entries(right)) {
    const isAlone = !Object.hasOwn(both, name) || document.equals(both[name], value);
    both[name] = isAlone ? value : meet(document, name, left, right);
    if (both[name] === undefined) return undefined;
  }
  const properties = meetProperties(document, left, right);
  return properties.length > 0 ? { ...both, properties: Object.fromEntries(properties) } : both;
}

/** What one side calls additional, the other may declare: such a property has to satisfy both. */
function meetProperties(document: SchemaDocument, left: Keywords, right: Keywords): [string, Schema][] {
  const names = new Set([...Object.keys(recordAt(left, 'properties')), ...Object.keys(recordAt(right, 'properties'))]);
  document.work.spend(names.size);
  return Array.from(names, (name) => {
    const schemas = [...document.propertySchemas(left, name), ...document.propertySchemas(right, name)].filter((one) => one !== true);
    return [name, schemas.length > 1 ? { allOf: schemas } : (schemas[0] ?? true)];
  });
}

/** The stricter of two values of one keyword. */
function meet(document: SchemaDocument, name: string, left: Keywords, right: Keywords): unknown {
  switch (name) {
    case 'type':
      return meetTypes(left, right);
    case 'const':
      return undefined;
    case 'enum':
      return listAt(left, name).filter((one) => listAt(right, name).some((other) => document.equals(one, other)));
    case 'required':
      return [...new Set([...stringsAt(left, name), ...stringsAt(right, name)])];
    case 'patternProperties':
      return meetRecords(recordAt(left, name), recordAt(right, name));
    case 'items':
    case 'contains':
    case 'additionalProperties':
    case 'propertyNames':
      return { allOf: [left[name], right[name]] };
    case 'minimum':
    case 'exclusiveMinimum':
    case 'minLength':
    case 'minItems':
    case 'minContains':
    case 'minProperties':
      return Math.max(numberAt(left, name) ?? -Infinity, numberAt(right, name) ?? -Infinity);
    case 'maximum':
    case 'exclusiveMaximum':
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return Math.min(numberAt(left, name) ?? Infinity, numberAt(right, name) ?? Infinity);
    case 'uniqueItems':
      return left[name] === true || right[name] === true;
    default:
      return right[name];
  }
}

function meetTypes(left: Keywords, right: Keywords): unknown {
  const allowed = typesOf(right) ?? [];
  const met = (typesOf(left) ?? []).flatMap((type) => {
    if (allowed.includes(type) || (type === 'integer' && allowed.includes('number'))) return [type];
    return type === 'number' && allowed.includes('integer') ? ['integer'] : [];
  });
  return met.length > 0 ? met : undefined;
}

function meetRecords(left: Record<string, unknown>, right: Record<string, unknown>): Record<string, unknown> {
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return Object.fromEntries(
    names.map((name) => {
      if (!Object.hasOwn(left, name)) return [name, right[name]];
      return [name, Object.hasOwn(right, name) ? { allOf: [left[name], right[name]] } : left[name]];
    }),
  );
}
