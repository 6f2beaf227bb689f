import type { Document, Schema } from './openapi.ts';

/** Whether clients send what a schema describes, or receive it: what breaks them is the opposite. */
export type Direction = 'sent' | 'received';

/** Both documents, and which pairs of named schemas are being compared: schemas may contain themselves. */
export interface Comparison {
  readonly before: Document;
  readonly after: Document;
  readonly open: ReadonlySet<string>;
}

/** Bounds on what is sent: raising a lower one or lowering an upper one refuses what was accepted. */
const LOWER_BOUNDS = ['minimum', 'minLength', 'minItems'] as const;
const UPPER_BOUNDS = ['maximum', 'maxLength', 'maxItems'] as const;

/** What breaks a client that was written for the schema `before`, each change as a line that begins with where. */
export function schemaChanges(before: Schema, after: Schema, direction: Direction, where: string, comparison: Comparison): string[] {
  const pair = `${direction} ${before.$ref} ${after.$ref}`;
  const isNamed = before.$ref !== undefined && after.$ref !== undefined;
  if (isNamed && comparison.open.has(pair)) return [];
  const inside: Comparison = isNamed ? { ...comparison, open: new Set([...comparison.open, pair]) } : comparison;
  const [old, now] = [resolved(before, comparison.before), resolved(after, comparison.after)];
  const variants = variantsOf(old);
  if (variants !== undefined || variantsOf(now) !== undefined)
    return variantChanges(variants ?? [old], variantsOf(now) ?? [now], direction, where, inside);
  return [
    ...typeChanges(old, now, direction, where),
    ...valueChanges(old, now, direction, where),
    ...(direction === 'sent' ? boundChanges(old, now, where) : []),
    ...propertyChanges(old, now, direction, where, inside),
    ...(old.items && now.items ? schemaChanges(old.items, now.items, direction, `${where}[]`, inside) : []),
  ];
}

function resolved(schema: Schema, document: Document): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  const found = name === undefined ? schema : document.components?.schemas?.[name];
  if (found === undefined) throw new Error(`The document has no ${schema.$ref}`);
  return found.$ref === undefined ? found : resolved(found, document);
}

const variantsOf = ({ anyOf, oneOf }: Schema): readonly Schema[] | undefined => anyOf ?? oneOf;

/** Every variant that there was is still there, as it was or compatible. New variants are how a union grows: clients pass over them. */
function variantChanges(
  before: readonly Schema[],
  after: readonly Schema[],
  direction: Direction,
  where: string,
  comparison: Comparison,
): string[] {
  const isNullNow = direction === 'received' && after.some(isNull) && !before.some(isNull);
  const changed = before.flatMap((variant, index) => {
    const found = after.map((other) => schemaChanges(variant, other, direction, where, comparison));
    if (found.some((changes) => changes.length === 0)) return [];
    // For the variant at the same position, or the only one: its change is more useful than "removed".
    const inPlace = before.length === after.length ? found[index] : undefined;
    return inPlace ?? [`${where}: variant ${index + 1} removed or changed`];
  });
  return isNullNow ? [...changed, `${where}: may be null now`] : changed;
}

const isNull = (schema: Schema): boolean => typesOf(schema).includes('null');

function typeChanges(before: Schema, after: Schema, direction: Direction, where: string): string[] {
  const [old, now] = [typesOf(before), typesOf(after)];
  const [narrower, wider] = direction === 'sent' ? [old, now] : [now, old];
  if (wider.length === 0) return [];
  const isWithin =
    narrower.length > 0 && narrower.every((type) => wider.includes(type) || (type === 'integer' && wider.includes('number')));
  return isWithin ? [] : [`${where}: type was ${old.join(' or ') || 'anything'}, is ${now.join(' or ') || 'anything'}`];
}

const typesOf = ({ type = [] }: Schema): readonly string[] => (typeof type === 'string' ? [type] : type);

/** Values that may no longer be sent. Of what is received, new values are how a list grows. */
function valueChanges(before: Schema, after: Schema, direction: Direction, where: string): string[] {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  if (now === undefined || (direction === 'received' && old === undefined)) return [];
  if (old === undefined) return [`${where}: any value was accepted, now ${now.join(', ')}`];
  const removed = old.filter((value) => !now.includes(value));
  return removed.map((value) => `${where}: value ${value} removed`);
}

/** As JSON, so that they compare. */
const valuesOf = (schema: Schema): string[] | undefined =>
  (schema.const === undefined ? schema.enum : [schema.const])?.map((value) => JSON.stringify(value));

function boundChanges(before: Schema, after: Schema, where: string): string[] {
  const tighter = (name: keyof Schema) => `${where}: ${name} was ${before[name] ?? 'not set'}, is ${after[name]}`;
  return [
    ...LOWER_BOUNDS.filter((name) => (after[name] ?? -Infinity) > (before[name] ?? -Infinity)).map(tighter),
    ...UPPER_BOUNDS.filter((name) => (after[name] ?? Infinity) < (before[name] ?? Infinity)).map(tighter),
    ...(after.pattern !== undefined && after.pattern !== before.pattern ? [tighter('pattern')] : []),
  ];
}

function propertyChanges(before: Schema, after: Schema, direction: Direction, where: string, comparison: Comparison): string[] {
  const [old, now] = [before.properties ?? {}, after.properties ?? {}];
  const [wasRequired, isRequired] = [new Set(before.required), new Set(after.required)];
  const inside = (name: string) => `${where}.${name}`;
  // A field that is sent may go where unknown ones are taken.
  const removed = Object.keys(old).filter((name) => !(name in now) && (direction === 'received' || after.additionalProperties === false));
  const demanded = direction === 'sent' ? [...isRequired].filter((name) => !wasRequired.has(name)) : [];
  const uncertain = direction === 'received' ? [...wasRequired].filter((name) => name in now && !isRequired.has(name)) : [];
  const isClosed =
    direction === 'sent' &&
    after.additionalProperties === false &&
    before.type === 'object' &&
    (before.additionalProperties ?? true) !== false;
  return [
    ...removed.map((name) => `${inside(name)}: removed`),
    ...demanded.map((name) => `${inside(name)}: now required`),
    ...uncertain.map((name) => `${inside(name)}: no longer always there`),
    ...(isClosed ? [`${where}: unknown fields are refused now`] : []),
    ...Object.entries(old).flatMap(([name, schema]) => {
      const other = now[name];
      return other === undefined ? [] : schemaChanges(schema, other, direction, inside(name), comparison);
    }),
  ];
}
