import { readDocument } from '../../contract/src/openapi/read-document.ts';
import type { JsonSchema, OpenApiDocument, Response } from '../../contract/src/openapi/shape.ts';
import { openApiDocument } from '../../contract/src/openapi.ts';

type Schemas = OpenApiDocument['components']['schemas'];

interface Inlined {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>>>;
}

/** The text of `cli/src/generated/fields.ts`: the fields of every record that an operation answers with, and the values that a word can have. */
export function fieldsModule(document: OpenApiDocument = openApiDocument()): string {
  const { schemas } = document.components;
  const { paths } = readDocument<Inlined>(JSON.stringify(document));
  const answers = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap(({ responses }) =>
      Object.entries(responses).flatMap(([status, { content }]) => (status < '300' ? Object.values(content ?? {}) : [])),
    );
  const records = new Set(answers.flatMap(({ schema }) => recordsIn(schema, schemas)));
  const fields = [...records]
    .sort()
    .map((name) => `export const ${name}Fields = ${listText(Object.keys(schemas[name]?.properties ?? {}))};`);
  const values = Object.entries(schemas).flatMap(([name, { enum: choices }]) =>
    choices?.every((choice) => typeof choice === 'string') ? [`export const ${name}Values = ${listText(choices)} as const;`] : [],
  );
  return ['// Generated from contract/src by cli/scripts/generate-fields.ts. Do not edit.', ...fields, ...values, ''].join('\n');
}

const listText = (texts: readonly unknown[]): string => `[${texts.map((text) => `'${text}'`).join(', ')}]`;

/** The records that an answer is, or a list of. */
function recordsIn(schema: JsonSchema, schemas: Schemas, isInside = false): string[] {
  const choices = schema.anyOf ?? schema.oneOf ?? [];
  if (choices.length > 0) return choices.flatMap((choice) => recordsIn(choice, schemas, isInside));
  if (typeof schema.items === 'object' && !Array.isArray(schema.items)) return recordsIn(schema.items, schemas, true);
  const name = schema.$ref?.split('/').at(-1) ?? '';
  const { properties } = schemas[name] ?? {};
  if (!properties) return [];
  const lists = isInside ? [] : Object.values(properties).filter((field) => typeof field === 'object' && field.type === 'array');
  return [name, ...lists.flatMap((field) => (typeof field === 'object' ? recordsIn(field, schemas, true) : []))];
}
