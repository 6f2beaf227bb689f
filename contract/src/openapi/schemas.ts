import * as z from 'zod';
import type { JsonSchema } from './shape.ts';

/** `input` is what a caller may send, `output` what the service answers; defaults and transforms make the two differ. */
export type Direction = 'input' | 'output';

export interface Schemas {
  /** The JSON Schema of a route's schema: a reference if it is a named record. */
  schemaOf(schema: z.ZodType, direction: Direction): JsonSchema;
  /** The record behind a reference. */
  resolve(ref: string): JsonSchema;
  /** Every record that a route can reach, by name, in alphabetical order. */
  readonly components: Record<string, JsonSchema>;
}

const PREFIX = '#/components/schemas/';

/**
 * Names the records of a contract: every schema with `.meta({ id })` that the given ones can reach is listed under its id. A record that is
 * both sent and answered, and differs between the two, is split: `X` is the answer and `XInput` the request.
 */
export function nameSchemas(roots: Record<Direction, z.ZodType[]>): Schemas {
  const raw = { input: registered('input'), output: registered('output') };
  const reached = { input: reach(raw.input, roots.input, 'input'), output: reach(raw.output, roots.output, 'output') };
  const split = splitRecords(raw, reached);

  const nameOf = (id: string, direction: Direction) => (direction === 'input' && split.has(id) ? `${id}Input` : id);
  const finish = (schema: JsonSchema, direction: Direction) =>
    mapSchemas(schema, (part) => tidy(part, direction, (id) => `${PREFIX}${nameOf(id, direction)}`));

  const named: [string, JsonSchema][] = [];
  // A record that is not split is described as a request where it is one: only then does it say whether unknown fields are refused.
  for (const id of reached.output) if (!reached.input.has(id) || split.has(id)) named.push([id, finish(lookUp(raw.output, id), 'output')]);
  for (const id of reached.input) named.push([nameOf(id, 'input'), finish(lookUp(raw.input, id), 'input')]);
  const components = Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));

  return {
    components,
    resolve: (ref) => lookUp(components, ref.slice(PREFIX.length)),
    schemaOf: (schema, direction) => finish(toJsonSchema(schema, direction), direction),
  };
}

const registered = (io: Direction): Record<string, JsonSchema> =>
  z.toJSONSchema(z.globalRegistry, { io, unrepresentable: 'any', override, uri: (id) => id }).schemas;

/** A schema that is a named record becomes a reference to it, also inside another schema. */
function toJsonSchema(schema: z.ZodType, io: Direction): JsonSchema {
  const id = z.globalRegistry.get(schema)?.id;
  if (id) return { $ref: id };
  const { $defs: _named, ...inline } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override });
  return inline;
}

/** Of a whole number that is read from text, zod leaves out default and examples. */
const override: NonNullable<z.core.ToJSONSchemaParams['override']> = ({ zodSchema, jsonSchema }) => {
  if (jsonSchema.type !== 'integer') return;
  const examples = z.globalRegistry.get(zodSchema)?.examples;
  if (Array.isArray(examples)) jsonSchema.examples ??= examples;
  if (zodSchema instanceof z.ZodDefault) jsonSchema.default ??= zodSchema.def.defaultValue;
};

function lookUp(records: Record<string, JsonSchema>, id: string): JsonSchema {
  const record = records[id];
  if (!record) throw new Error(`No schema is registered as ${id}.`);
  return record;
}

function reach(records: Record<string, JsonSchema>, roots: z.ZodType[], direction: Direction): Set<string> {
  const found = new Set<string>();
  const queue = roots.flatMap((schema) => referencesIn(toJsonSchema(schema, direction)));
  for (const id of queue) {
    if (found.has(id)) continue;
    found.add(id);
    queue.push(...referencesIn(lookUp(records, id)));
  }
  return found;
}

function splitRecords(raw: Record<Direction, Record<string, JsonSchema>>, reached: Record<Direction, Set<string>>): Set<string> {
  const shared = [...reached.input].filter((id) => reached.output.has(id));
  const bare = (schema: JsonSchema) => JSON.stringify(mapSchemas(schema, (part) => tidy(part, 'output', (id) => id)));
  const split = new Set(shared.filter((id) => bare(lookUp(raw.input, id)) !== bare(lookUp(raw.output, id))));
  // Every schema that contains a split record differs too, up to the roots.
  for (let before = -1; before !== split.size; ) {
    before = split.size;
    for (const id of shared) if (referencesIn(lookUp(raw.output, id)).some((inner) => split.has(inner))) split.add(id);
  }
  return split;
}

function referencesIn(schema: JsonSchema): string[] {
  const ids: string[] = [];
  mapSchemas(schema, (part) => {
    if (part.$ref) ids.push(idOf(part.$ref));
    return part;
  });
  return ids;
}

/** zod refers to a registered schema by its id, or by `#/$defs/<id>`. */
const idOf = (ref: string): string => ref.split('/').at(-1) ?? ref;

const FORMATS_THAT_SAY_IT = new Set(['uuid', 'date', 'date-time', 'email']);

/** Takes out of one schema what says nothing to a reader: ids, safe-integer bounds, patterns that repeat a format. */
function tidy(schema: JsonSchema, direction: Direction, refOf: (id: string) => string): JsonSchema {
  const { $schema: _dialect, $id: _uri, id: _id, ...kept } = schema;
  if (kept.$ref) kept.$ref = refOf(idOf(kept.$ref));
  if (kept.maximum === Number.MAX_SAFE_INTEGER) delete kept.maximum;
  if (kept.minimum === Number.MIN_SAFE_INTEGER) delete kept.minimum;
  if (kept.format && FORMATS_THAT_SAY_IT.has(kept.format)) delete kept.pattern;
  if (isPlainString(kept.propertyNames)) delete kept.propertyNames;
  // An empty schema under `additionalProperties` reads as an omission: say that other fields are welcome.
  if (isEmpty(kept.additionalProperties)) kept.additionalProperties = true;
  // Answers may grow fields, so their descriptions do not forbid any.
  if (direction === 'output' && kept.additionalProperties === false) delete kept.additionalProperties;
  return foldNull(kept);
}

const isEmpty = (schema: unknown) => typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0;
const isPlainString = (schema: JsonSchema['propertyNames']) => typeof schema === 'object' && JSON.stringify(schema) === '{"type":"string"}';

/** `X | null` of a simple type is one schema with two types. */
function foldNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...outer } = schema;
  const [first, second, ...more] = anyOf ?? [];
  if (!first || more.length > 0 || second?.type !== 'null' || typeof first.type !== 'string' || 'const' in first) return schema;
  return { ...first, ...outer, type: [first.type, 'null'], ...(first.enum && { enum: [...first.enum, null] }) };
}

/** Rebuilds a schema with `change` applied to every schema in it, innermost first. Values (examples, defaults, enums) are no schemas. */
function mapSchemas(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema {
  const inner = <T extends JsonSchema | boolean>(part: T) => (typeof part === 'boolean' ? part : mapSchemas(part, change));
  const list = (parts: JsonSchema[]) => parts.map((part) => mapSchemas(part, change));
  const copy = { ...schema };
  if (copy.properties) copy.properties = Object.fromEntries(Object.entries(copy.properties).map(([name, part]) => [name, inner(part)]));
  if (copy.items) copy.items = Array.isArray(copy.items) ? copy.items.map(inner) : inner(copy.items);
  if (copy.prefixItems) copy.prefixItems = copy.prefixItems.map(inner);
  if (copy.additionalProperties) copy.additionalProperties = inner(copy.additionalProperties);
  if (copy.propertyNames) copy.propertyNames = inner(copy.propertyNames);
  if (copy.anyOf) copy.anyOf = list(copy.anyOf);
  if (copy.oneOf) copy.oneOf = list(copy.oneOf);
  if (copy.allOf) copy.allOf = list(copy.allOf);
  return change(copy);
}
