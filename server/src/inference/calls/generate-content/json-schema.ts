import type { Json } from '../event-data.ts';
import { isRecord } from '../usage.ts';

/** Members of Google's `Schema` that JSON Schema has under the same name but for its case, or not at all. */
const RENAMED: Readonly<Record<string, string>> = {
  any_of: 'anyOf',
  min_items: 'minItems',
  max_items: 'maxItems',
  min_length: 'minLength',
  max_length: 'maxLength',
  min_properties: 'minProperties',
  max_properties: 'maxProperties',
  property_ordering: 'propertyOrdering',
  additional_properties: 'additionalProperties',
};
/** Numbers that Google writes as texts, since they are 64 bits long. */
const COUNTS: ReadonlySet<string> = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/**
 * Google's `Schema` as JSON Schema: types in lower case, `nullable` as a further type, `example` as `examples`, and without the order of
 * properties. What is JSON Schema already stays as it is.
 */
export function jsonSchemaOf(schema: Json): Json {
  const written: Record<string, unknown> = {};
  for (const [given, value] of Object.entries(schema)) {
    const name = RENAMED[given] ?? given;
    if (value === null || value === undefined || name === 'propertyOrdering' || name === 'nullable') continue;
    if (name === 'example') written['examples'] = [value];
    else written[name] = memberOf(name, value);
  }
  return schema['nullable'] === true ? orNull(written) : written;
}

function memberOf(name: string, value: unknown): unknown {
  if (name === 'type') return typeOf(value);
  if (name === 'properties' && isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([property, one]) => [property, isRecord(one) ? jsonSchemaOf(one) : one]));
  if ((name === 'items' || name === 'additionalProperties') && isRecord(value)) return jsonSchemaOf(value);
  if ((name === 'anyOf' || name === 'prefixItems') && Array.isArray(value))
    return value.map((one) => (isRecord(one) ? jsonSchemaOf(one) : one));
  if (COUNTS.has(name) && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  return value;
}

const typeOf = (type: unknown): unknown => {
  if (Array.isArray(type)) return type.map(typeOf);
  return typeof type === 'string' && /^[A-Z]+$/.test(type) ? type.toLowerCase() : type;
};

function orNull(schema: Readonly<Record<string, unknown>>): Json {
  const { type, anyOf, enum: values } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  if (type === undefined) return schema;
  return { ...schema, type: [type, 'null'].flat(), ...(Array.isArray(values) && { enum: [...values, null] }) };
}
