import type { Operation, Parameter, Schema } from '../surface.ts';

export type Records = Readonly<Record<string, Schema>>;
type Properties = Record<string, unknown>;

/** What references in the OpenAPI document begin with. */
export const COMPONENTS = '#/components/schemas/';

/** Headers that say how a request is to be treated; the others are about the connection or the credential. */
const ARGUMENT_HEADER = /^(?:x-(?:agent|vaas|budget|fallback)-[a-z-]+|idempotency-key)$/;

/** Fields that ask for a stream: a tool is answered once, whole. */
export const STREAM_FIELDS: ReadonlySet<string> = new Set(['stream', 'stream_options', 'partial_images']);

/** Taken where they are given, but not worth their place in the context of every session: no agent turns these by itself. */
const RARELY_GIVEN: ReadonlySet<string> = new Set([
  ...['vaas_anchor', 'logit_bias', 'logprobs', 'top_logprobs', 'presence_penalty', 'frequency_penalty', 'parallel_tool_calls'],
  ...['modalities', 'service_tier', 'user', 'external_id', 'provider'],
]);

/** The parameters of an operation that a tool takes as arguments, under the names that they have there. */
export const argumentParameters = ({ method, parameters }: Operation): (Parameter & { readonly argument: string })[] =>
  parameters.flatMap((parameter) => {
    if (parameter.in !== 'header') return [{ ...parameter, schema: argumentSchema(parameter), argument: parameter.name }];
    // A repeat of the others changes nothing anyway.
    if (parameter.name === 'idempotency-key' && method.toUpperCase() !== 'POST') return [];
    const argument = parameter.name.replace(/^x-/, '').replaceAll('-', '_');
    return ARGUMENT_HEADER.test(parameter.name) ? [{ ...parameter, argument }] : [];
  });

/** A query has no other way to say true and false than in words; an argument has. */
function argumentSchema({ schema }: Parameter): Schema {
  const { enum: choices, type: _, ...rest } = schema;
  return Array.isArray(choices) && choices.join() === 'true,false' ? { ...rest, type: 'boolean' } : schema;
}

/** What a tool takes: the parameters and the fields of the body of its operation, side by side; the API says what their limits are. */
export function inputSchemaOf(operation: Operation, records: Records): Schema {
  const parameters = argumentParameters(operation);
  const body = objectSchema(operation.body?.schema, records);
  const fields = Object.entries(body.properties).filter(([name]) => !STREAM_FIELDS.has(name) && !RARELY_GIVEN.has(name));
  const taken = parameters.find(({ argument }) => argument in body.properties);
  if (taken) throw new Error(`${operation.id} has ${taken.argument} twice: in its body and beside it`);
  const listed = parameters.filter(({ argument }) => !RARELY_GIVEN.has(argument));
  const properties: Properties = {
    ...Object.fromEntries(
      listed.map(({ argument, schema, description = '' }) => {
        // What each choice does is worth its words.
        const told = 'enum' in schema ? description : firstSentence(description);
        return [argument, { ...schema, ...(told && { description: told }) }];
      }),
    ),
    ...Object.fromEntries(fields),
  };
  const required = [...parameters.flatMap(({ argument, required: is }) => (is ? [argument] : [])), ...body.required];
  return selfContained(
    { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: body.isOpen },
    records,
  );
}

function objectSchema(schema: Schema | undefined, records: Records): { properties: Properties; required: string[]; isOpen: boolean } {
  if (!schema) return { properties: {}, required: [], isOpen: false };
  const ref = schema['$ref'];
  const found = typeof ref === 'string' ? records[ref.slice(COMPONENTS.length)] : schema;
  const { properties, required = [], additionalProperties } = found ?? {};
  if (typeof properties !== 'object' || properties === null || !Array.isArray(required))
    throw new Error('A tool takes the fields of its body as arguments, so the body has to be one object');
  return { properties: { ...properties }, required: required.map(String), isOpen: additionalProperties !== false };
}

/** The bound of what is stored, not of what anybody would ask for. */
const LARGEST = 2 ** 31 - 1;

/** Descriptions and limits that the API repeats in its errors; they are left out, since models get the schemas of all tools at once. */
const LEFT_OUT = new Set(['examples', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems', 'format']);

/** A schema with every record it refers to inside: a client has nothing but the schema. */
function selfContained(schema: Schema, records: Records): Schema {
  const $defs: Record<string, unknown> = {};
  const inside = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inside);
    if (!isSchema(part)) return part;
    const entries = Object.entries(withoutNull(part)).flatMap(([key, value]) => {
      // A field may have the name of a keyword: what is left out is no schema, and a field always is one.
      if (LEFT_OUT.has(key) && !isSchema(value)) return [];
      // It is the default.
      if (key === 'additionalProperties' && value === true) return [];
      if (key === 'type' && 'enum' in part) return [];
      if (key === 'maximum' && value === LARGEST) return [];
      if (key === '$ref' && typeof value === 'string') return [[key, localRef(value)]];
      return [[key, inside(value)]];
    });
    return Object.fromEntries(entries);
  };
  const localRef = (ref: string): string => {
    const name = ref.slice(COMPONENTS.length);
    if (!(name in $defs)) {
      // Its place is taken before its inside is looked at: records may contain themselves.
      $defs[name] = null;
      $defs[name] = inside(records[name]);
    }
    return `#/$defs/${name}`;
  };
  const closed = inside(schema);
  return { ...Object(closed), ...(Object.keys($defs).length > 0 && { $defs }) };
}

/** To give null is to leave the field out, which is as good and costs a model less to read about. */
function withoutNull(schema: Schema): Schema {
  const { type, enum: choices, anyOf } = schema;
  return {
    ...schema,
    ...(Array.isArray(type) && type.length === 2 && { type: type.find((one) => one !== 'null') }),
    ...(Array.isArray(choices) && { enum: choices.filter((one) => one !== null) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.filter((one) => !isSchema(one) || one['type'] !== 'null') }),
  };
}

export const isSchema = (part: unknown): part is Schema => typeof part === 'object' && part !== null && !Array.isArray(part);

/** A sentence ends where a full stop is followed by white space or the end: `0.01` does not end one. */
const firstSentence = (text: string): string => /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text;
