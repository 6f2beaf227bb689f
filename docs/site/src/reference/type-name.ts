import { recordName, resolved, type Schema } from './document.ts';

/** A schema's type as a reader wants it: `string (uuid) or null`, `array of KeyResponse`. */
export function typeName(schema: Schema): string {
  const name = recordName(schema);
  if (name !== undefined) return isPlain(resolved(schema)) ? typeName(resolved(schema)) : name;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeName))].join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return 'string';
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any']);
  return types
    .map((type) => {
      if (type === 'array') return schema.items ? `array of ${typeName(schema.items)}` : 'array';
      return type === 'string' && schema.format ? `string (${schema.format})` : type;
    })
    .join(' or ');
}

/** Values a member may have, and bounds, as one short line each. */
export function limitsOf(schema: Schema): string[] {
  const {
    enum: values,
    minimum,
    maximum,
    minLength,
    maxLength,
    minItems,
    maxItems,
    default: byDefault,
  } = recordName(schema) ? resolved(schema) : schema;
  const range = (unit: string, low?: number, high?: number) => {
    const said = (count: number) => `${count}${count === 1 ? unit.replace(/s$/, '') : unit}`;
    if (low === undefined && high === undefined) return [];
    if (low === undefined) return [`at most ${said(high ?? 0)}`];
    return high === undefined || high >= Number.MAX_SAFE_INTEGER ? [`at least ${said(low)}`] : [`${low} to ${said(high)}`];
  };
  return [
    ...(values ? [`one of ${values.map((value) => `\`${String(value)}\``).join(', ')}`] : []),
    ...range('', real(minimum), maximum),
    ...range(' characters', minLength, maxLength),
    ...range(' items', minItems, maxItems),
    ...(byDefault === undefined ? [] : [`default \`${JSON.stringify(byDefault)}\``]),
  ];
}

/** The generator bounds every integer by what JavaScript holds; readers need not see that. */
const real = (minimum: number | undefined) => (minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum);

const isPlain = ({ properties, anyOf, oneOf, allOf }: Schema): boolean => !properties && !anyOf && !oneOf && !allOf;

/** The members that can be shown below a member of this type, if it is a record or a list of records. */
export function membersOf(
  schema: Schema,
): { readonly properties: Readonly<Record<string, Schema>>; readonly required: readonly string[] } | undefined {
  const full = resolved(schema);
  if (full.properties) return { properties: full.properties, required: full.required ?? [] };
  if (full.items) return membersOf(full.items);
  const records = (full.anyOf ?? full.oneOf ?? []).filter((choice) => resolved(choice).type !== 'null').map(membersOf);
  const merged = (full.allOf ?? []).map(membersOf).filter((part) => part !== undefined);
  if (merged.length > 0) {
    return { properties: Object.assign({}, ...merged.map((part) => part.properties)), required: merged.flatMap((part) => part.required) };
  }
  const [only] = records.filter((record) => record !== undefined);
  return records.filter((record) => record !== undefined).length === 1 ? only : undefined;
}
