import { isRecord, type Json } from '../json-value.ts';

/** String formats that Anthropic can hold a model to. */
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);

/** Keywords that are understood as they stand. */
const KEPT = new Set(['$ref', 'type', 'enum', 'const', 'title', 'required']);

/** Notes that bind nobody. */
const DROPPED = new Set(['$schema', '$id', '$comment', 'default', 'example', 'examples', 'additionalProperties', 'description']);

/**
 * A JSON Schema as Anthropic compiles it: objects are closed, and what it cannot hold a model to (lengths, ranges, patterns) is told to the
 * model in the description instead of being refused.
 */
export function outputSchema(schema: Json): Json {
  const result: Record<string, unknown> = {};
  const told: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const translated = DROPPED.has(keyword) ? undefined : keywordOf(keyword, value);
    if (translated) Object.assign(result, translated);
    else if (!DROPPED.has(keyword)) told[keyword] = value;
  }
  if (isObjectSchema(schema)) result['additionalProperties'] = false;
  const description = descriptionOf(schema['description'], told);
  return description === '' ? result : { ...result, description };
}

function keywordOf(keyword: string, value: unknown): Json | undefined {
  switch (keyword) {
    case 'properties':
    case '$defs':
    case 'definitions':
      return isRecord(value) ? { [keyword]: Object.fromEntries(Object.entries(value).map(([name, of]) => [name, nested(of)])) } : undefined;
    case 'items':
      return isRecord(value) ? { items: nested(value) } : undefined;
    case 'anyOf':
    case 'allOf':
      return Array.isArray(value) ? { [keyword]: value.map(nested) } : undefined;
    case 'oneOf':
      return Array.isArray(value) ? { anyOf: value.map(nested) } : undefined;
    case 'format':
      return typeof value === 'string' && FORMATS.has(value) ? { format: value } : undefined;
    case 'minItems':
      return value === 0 || value === 1 ? { minItems: value } : undefined;
    default:
      return KEPT.has(keyword) ? { [keyword]: value } : undefined;
  }
}

const nested = (schema: unknown): unknown => (isRecord(schema) ? outputSchema(schema) : schema);

const isObjectSchema = ({ type, properties }: Json): boolean =>
  type === 'object' || (Array.isArray(type) && type.includes('object')) || isRecord(properties);

function descriptionOf(description: unknown, told: Json): string {
  const constraints = Object.keys(told).length === 0 ? [] : [`Constraints: ${JSON.stringify(told)}`];
  return [...(typeof description === 'string' && description !== '' ? [description] : []), ...constraints].join('\n\n');
}
