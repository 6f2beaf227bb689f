import type { Operation, Schema } from '../surface.ts';
import { COMPONENTS, isSchema, type Records } from './tool-schemas.ts';

const said = (description: string): Schema => ({ type: 'string', description });
/** Beside the answer of what spends; `request_id` is beside every answer, and the server's instructions say so once. */
const SPENT = {
  receipt_id: said('For `get_receipt`.'),
  cost_usd: { type: 'string' },
  model_served: { type: 'string' },
  run_remaining_usd: said('What the run may still spend.'),
};

/**
 * What a tool answers with: the operation's own answer, and what the gateway says about the request. Every session pays for the schemas of all
 * tools in its context, so they are outlines: the fields of the answer with their types and choices. The whole is in the OpenAPI document.
 *
 * @param answer where the operation answers with what is no JSON
 */
export function outputSchemaOf(operation: Operation, records: Records, spends: boolean, answer = operation.answer?.schema ?? {}): Schema {
  return {
    type: 'object',
    properties: { answer: outlineOf(answer, records, 1), ...(spends && SPENT) },
    required: ['answer'],
  };
}

/** @param depth how many records may be looked into; the items of a list are what the list is for, and count with it */
function outlineOf(given: Schema, records: Records, depth: number): Schema {
  const schema = resolved(given, records);
  const { type, enum: choices, const: only, properties, items } = schema;
  const inner = isList(schema) ? depth : depth - 1;
  return {
    // Choices say of which type they are.
    ...(type !== undefined && choices === undefined && only === undefined && { type }),
    ...(choices !== undefined && { enum: choices }),
    ...(only !== undefined && { const: only }),
    ...alternativesOf(schema, records, depth),
    ...(isSchema(properties) && depth > 0 && { properties: fieldsOf(properties, records, inner) }),
    ...(isSchema(items) && { items: outlineOf(items, records, depth) }),
  };
}

function fieldsOf(properties: Schema, records: Records, depth: number): Schema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, isSchema(field) ? outlineOf(field, records, depth) : field]),
  );
}

function alternativesOf({ anyOf, oneOf }: Schema, records: Records, depth: number): Schema {
  const given = [anyOf, oneOf].flat().filter(isSchema);
  if (given.length === 0) return {};
  const outlines = new Map(given.map((one) => outlineOf(one, records, depth)).map((outline) => [JSON.stringify(outline), outline]));
  const [first, ...more] = outlines.values();
  return first && more.length === 0 ? first : { anyOf: [...outlines.values()] };
}

/** A page of records, in the service's own form or in OpenAI's. */
const isList = ({ properties }: Schema): boolean => isSchema(properties) && (isSchema(properties['items']) || isSchema(properties['data']));

function resolved(schema: Schema, records: Records): Schema {
  const { $ref: ref, ...beside } = schema;
  return typeof ref === 'string' ? { ...records[ref.slice(COMPONENTS.length)], ...beside } : schema;
}
