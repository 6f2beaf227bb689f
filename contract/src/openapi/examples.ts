import type { JsonSchema } from './shape.ts';

/** Raised where a schema gives nothing to show; the message says which one to mend. */
class NoExample extends Error {}

/**
 * Assembles an example from what the schemas give: `.meta({ examples })`, else a default, a constant, the first choice. Optional fields appear
 * where they have their own example.
 *
 * @param where names the place for the message of the error
 * @throws NoExample for a string or number that says nothing about itself
 */
export function exampleOf(schema: JsonSchema, resolve: (ref: string) => JsonSchema, where: string): unknown {
  const inside = (part: JsonSchema, step: string) => exampleOf(part, resolve, `${where}${step}`);
  if (schema.examples) return schema.examples[0];
  if (schema.$ref) return exampleOf(resolve(schema.$ref), resolve, schema.$ref.split('/').at(-1) ?? where);
  if ('default' in schema) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice) return inside(choice, '');
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return objectExample(schema, inside);
    case 'array':
      return typeof schema.items === 'object' && !Array.isArray(schema.items) ? [inside(schema.items, '[]')] : [];
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      throw new NoExample(`${where} has nothing to show: give it .meta({ examples: [ … ] }) in the contract.`);
  }
}

function objectExample(schema: JsonSchema, inside: (part: JsonSchema, step: string) => unknown): Record<string, unknown> {
  const shown = Object.entries(schema.properties ?? {}).filter(([name, part]) => schema.required?.includes(name) || isExemplified(part));
  return Object.fromEntries(shown.map(([name, part]) => [name, typeof part === 'boolean' ? null : inside(part, `.${name}`)]));
}

const isExemplified = (schema: JsonSchema | boolean) => typeof schema === 'object' && schema.examples !== undefined;
