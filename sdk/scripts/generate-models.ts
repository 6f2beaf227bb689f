import * as contract from '@tallygate/contract';
import * as z from 'zod';
import { type JsonSchema, typeText } from './type-text.ts';
import { writeGenerated } from './write-generated.ts';

/** What callers write is typed by what the service accepts (defaults are optional); what they read, by what it sends. */
const isInput = (name: string): boolean => /Request$|Query$/.test(name);

/** Every record of the contract by name: exported schemas, and the schemas with an id in them. */
function records(exports: object): Map<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const add = (name: string, schema: JsonSchema) => {
    const known = found.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`${name} is read in one shape and written in another: give the two shapes two names in the contract.`);
    }
    found.set(name, schema);
  };
  for (const [name, exported] of Object.entries(exports)) {
    if (!(exported instanceof z.ZodType)) continue;
    const { $defs = {}, ...root } = jsonSchemaOf(exported, isInput(name) ? 'input' : 'output');
    for (const [id, schema] of Object.entries($defs)) add(id, without(schema, 'id'));
    const { $schema: _, ...schema } = root;
    if (schema.$ref === undefined) add(name, without(schema, 'id'));
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const isQuery = (name: string): boolean => name.endsWith('Query');

/** A query says true and false in words; a program does not. */
const withBooleans = ({ properties = {}, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, field]) => {
      const isBoolean = typeof field === 'object' && field.enum?.join() === 'true,false';
      return [name, isBoolean ? { description: field.description, type: 'boolean' } : field];
    }),
  ),
});

function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' })));
}

function without(schema: JsonSchema, member: keyof JsonSchema): JsonSchema {
  const { [member]: _, ...rest } = schema;
  return rest;
}

/** The text of `src/generated/models.ts`. */
export function modelsModule(exports: object = contract): string {
  const declarations = [...records(exports)].map(([name, schema]) => {
    const type = isQuery(name) ? typeText(withBooleans(schema)) : typeText(schema);
    const doc = schema.description === undefined ? '' : `/** ${schema.description} */\n`;
    return `${doc}${schema.properties !== undefined ? `export interface ${name} ${type}` : `export type ${name} = ${type};`}\n`;
  });
  return `// Generated from contract/src by sdk/scripts/generate-models.ts. Do not edit.\n\n${declarations.join('\n')}`;
}

if (import.meta.main) writeGenerated('../src/generated/models.ts', import.meta.url, modelsModule());
