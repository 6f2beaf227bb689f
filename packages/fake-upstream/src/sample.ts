const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The smallest value that fits a simple JSON Schema: every property, the first of an enum, fixed scalars. */
export function sample(schema: unknown): unknown {
  if (!isRecord(schema)) return null;
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  for (const union of [schema['anyOf'], schema['oneOf']]) if (Array.isArray(union)) return sample(union[0]);
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(isRecord(schema['properties']) ? schema['properties'] : {}).map(([key, of]) => [key, sample(of)]),
      );
    case 'array':
      return [sample(schema['items'])];
    case 'string':
      return 'text';
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
    case 'boolean':
      return true;
    default:
      return null;
  }
}
