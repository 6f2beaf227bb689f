/** The part of JSON Schema (draft 2020-12) that zod writes for the contract. */
export interface JsonSchema {
  $ref?: string | undefined;
  $schema?: string | undefined;
  $defs?: Record<string, JsonSchema> | undefined;
  id?: string | undefined;
  description?: string | undefined;
  type?: string | string[] | undefined;
  const?: unknown;
  enum?: unknown[] | undefined;
  anyOf?: JsonSchema[] | undefined;
  oneOf?: JsonSchema[] | undefined;
  items?: JsonSchema | JsonSchema[] | boolean | undefined;
  properties?: Record<string, JsonSchema | boolean> | undefined;
  required?: string[] | undefined;
  propertyNames?: JsonSchema | boolean | undefined;
  additionalProperties?: JsonSchema | boolean | undefined;
  [keyword: string]: unknown;
}

const SCALARS: Record<string, string> = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' };

/** A TypeScript type that says what a schema says, as far as types can. */
export function typeText(schema: JsonSchema, indent = ''): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  if ('const' in schema) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map((choice) => typeText(choice, indent)).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeText({ ...schema, type }, indent)).join(' | ');
  if (schema.type === 'array') return arrayText(schema, indent);
  if (schema.type === 'object') return objectText(schema, indent);
  return SCALARS[schema.type ?? ''] ?? 'unknown';
}

function arrayText({ items }: JsonSchema, indent: string): string {
  if (items === undefined || typeof items === 'boolean' || Array.isArray(items)) return 'unknown[]';
  const item = typeText(items, indent);
  const isUnion = (items.anyOf ?? items.oneOf ?? items.enum ?? (Array.isArray(items.type) ? items.type : [])).length > 1;
  return isUnion ? `(${item})[]` : `${item}[]`;
}

function objectText(schema: JsonSchema, indent: string): string {
  const { properties, additionalProperties: rest } = schema;
  if (properties === undefined || Object.keys(properties).length === 0) return recordText(schema, indent);
  const inner = `${indent}  `;
  const required = new Set(schema.required);
  const members = Object.entries(properties).map(([name, member]) => {
    const described = typeof member === 'boolean' ? {} : member;
    const doc = described.description === undefined ? '' : `${inner}/** ${described.description} */\n`;
    const key = /^\w+$/.test(name) ? name : `'${name}'`;
    // `| undefined` lets callers with exactOptionalPropertyTypes hand a value on that may be missing.
    return `${doc}${inner}${key}${required.has(name) ? '' : '?'}: ${typeText(described, inner)}${required.has(name) ? '' : ' | undefined'};\n`;
  });
  const isOpen = rest === true || (typeof rest === 'object' && Object.keys(rest).length === 0);
  return `{\n${members.join('')}${isOpen ? `${inner}[field: string]: unknown;\n` : ''}${indent}}`;
}

function recordText({ propertyNames, additionalProperties: value }: JsonSchema, indent: string): string {
  const values = typeof value === 'object' ? typeText(value, indent) : 'unknown';
  const keys = typeof propertyNames === 'object' ? typeText(propertyNames, indent) : 'string';
  return keys === 'string' ? `{ [name: string]: ${values} }` : `{ [name in ${keys}]?: ${values} }`;
}

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));
