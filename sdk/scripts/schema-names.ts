import * as z from 'zod';
import { type JsonSchema, typeText } from './type-text.ts';

/** The records that the SDK knows by name, and those of them that a text has used. */
export interface Names {
  readonly used: Set<string>;
  /** The name that the contract exports a schema under. */
  exported(schema: unknown): string | undefined;
  /** The type of what a caller sends or reads. */
  typeOf(schema: z.ZodType, io: 'input' | 'output'): string;
}

export function namedSchemas(exports: object): Names {
  const byName = new Map(Object.entries(exports).map(([name, schema]): [unknown, string] => [schema, name]));
  const used = new Set<string>();
  return {
    used,
    exported: (schema) => byName.get(schema),
    typeOf(schema, io) {
      const id = z.globalRegistry.get(schema)?.id;
      const described: JsonSchema = id ? { $ref: id } : JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' })));
      for (const name of referencesIn(described)) used.add(name);
      return typeText(described);
    },
  };
}

/** The names that a schema references directly. */
function referencesIn({ $defs: _, ...schema }: JsonSchema): string[] {
  return [...JSON.stringify(schema).matchAll(/"\$ref":"[^"]*?(\w+)"/g)].map(([, name = '']) => name);
}
