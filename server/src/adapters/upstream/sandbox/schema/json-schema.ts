import { SchemaRefusal } from './refusal.ts';

/** A JSON Schema as it came off the wire: `true`, `false`, or an object of keywords; anything else counts as `true`. */
export type Schema = unknown;
export type Keywords = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const recordAt = (keywords: Keywords, name: string): Record<string, unknown> => {
  const value = keywords[name];
  return isRecord(value) ? value : {};
};

export const listAt = (keywords: Keywords, name: string): readonly unknown[] => {
  const value = keywords[name];
  return Array.isArray(value) ? value : [];
};

export const stringsAt = (keywords: Keywords, name: string): readonly string[] =>
  listAt(keywords, name).filter((item) => typeof item === 'string');

export const numberAt = (keywords: Keywords, name: string): number | undefined => {
  const value = keywords[name];
  return typeof value === 'number' ? value : undefined;
};

export const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const;
export type TypeName = (typeof TYPES)[number];

/** The types that a schema names; undefined where it leaves them open. */
export function typesOf(keywords: Keywords): readonly TypeName[] | undefined {
  const { type } = keywords;
  if (type === undefined) return undefined;
  const named = Array.isArray(type) ? type : [type];
  return TYPES.filter((name) => named.includes(name));
}

/** Follows a reference inside the document, `#` or `#/a/b` (RFC 6901); no other document is ever fetched. */
export function resolveReference(root: Schema, reference: string): Schema {
  if (reference === '#') return root;
  let target: unknown = reference.startsWith('#/') ? root : undefined;
  for (const step of decodePointer(reference).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(target)) target = target[Number(key)];
    else target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  if (target === undefined) throw new SchemaRefusal(`the reference "${reference.slice(0, 100)}" leads nowhere in the schema`);
  return target;
}

function decodePointer(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}
