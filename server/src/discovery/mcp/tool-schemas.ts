import type { Operation, Parameter, Schema } from '../surface.ts';

type Records = Readonly<Record<string, Schema>>;
type Properties = Record<string, unknown>;

const COMPONENTS = '#/components/schemas/';

/** Headers that say how a request is to be treated; the others are about the connection or the credential. */
const ARGUMENT_HEADER = /^(?:x-(?:agent|vaas|budget|fallback)-[a-z-]+|idempotency-key)$/;

/** Fields that ask for a stream: a tool is answered once, whole. */
export const STREAM_FIELDS: ReadonlySet<string> = new Set(['stream', 'stream_options', 'partial_images']);

/** The parameters of an operation that a tool takes as arguments, under the names that they have there. */
export const argumentParameters = ({ parameters }: Operation): (Parameter & { readonly argument: string })[] =>
  parameters.flatMap((parameter) => {
    if (parameter.in !== 'header') return [{ ...parameter, argument: parameter.name }];
    const argument = parameter.name.replace(/^x-/, '').replaceAll('-', '_');
    return ARGUMENT_HEADER.test(parameter.name) ? [{ ...parameter, argument }] : [];
  });

/** What a tool takes: the parameters and the fields of the body of its operation, side by side. */
export function inputSchemaOf(operation: Operation, records: Records): Schema {
  const parameters = argumentParameters(operation);
  const body = objectSchema(operation.body?.schema, records);
  const fields = Object.entries(body.properties).filter(([name]) => !STREAM_FIELDS.has(name));
  const taken = parameters.find(({ argument }) => argument in body.properties);
  if (taken) throw new Error(`${operation.id} has ${taken.argument} twice: in its body and beside it`);
  const properties: Properties = {
    ...Object.fromEntries(
      parameters.map(({ argument, schema, description }) => [argument, { ...schema, ...(description && { description }) }]),
    ),
    ...Object.fromEntries(fields),
  };
  const required = [...parameters.flatMap(({ argument, required: is }) => (is ? [argument] : [])), ...body.required];
  return selfContained({ type: 'object', properties, required, additionalProperties: body.isOpen }, records);
}

/**
 * What a tool answers with: the operation's own answer, and what the gateway says about the request.
 * @param answer where the operation answers with what is no JSON
 */
export function outputSchemaOf(operation: Operation, records: Records, answer: Schema = operation.answer?.schema ?? {}): Schema {
  const said = (description: string) => ({ type: 'string', description });
  return selfContained(
    {
      type: 'object',
      properties: {
        answer,
        request_id: said('Names this request in the logs and in `get_request`.'),
        receipt_id: said('Of the signed receipt of what was spent: see `get_receipt`.'),
        cost_usd: said('What it cost, decimal USD.'),
        model_served: said('The model that answered.'),
        run_remaining_usd: said('What the run may still spend, decimal USD.'),
      },
      required: ['answer', 'request_id'],
    },
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

/** A schema with every record it refers to inside: a client has nothing but the schema. */
function selfContained(schema: Schema, records: Records): Schema {
  const $defs: Record<string, unknown> = {};
  const inside = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inside);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      // Examples are for people; models are given the schemas of all tools at once.
      Object.entries(part).flatMap(([key, value]) => {
        if (key === 'examples' && Array.isArray(value)) return [];
        if (key === '$ref' && typeof value === 'string') return [[key, localRef(value)]];
        return [[key, inside(value)]];
      }),
    );
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
