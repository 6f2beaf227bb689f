const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a string can be written in UTF-8: it has no half of a surrogate pair. */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text);

/**
 * The canonical form of a JSON value (RFC 8785, JCS): the bytes that are signed depend on what the value says and not on
 * how it was written down.
 *
 * Throws a `TypeError` for what has no JSON form (NaN, infinities, undefined, bigint, functions, dates and other class
 * instances, lone surrogates). `JSON.stringify` would drop or rewrite some of these without a word, and so sign
 * something else than was meant.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value);
    case 'number':
      // 3.2.2.3: the form of numbers is that of ECMAScript's own Number::toString; negative zero becomes 0.
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
      return String(value);
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value);
    default:
      throw new TypeError(`A value of type ${typeof value} has no JSON form`);
  }
}

/** 3.2.2.2: exactly the escapes that `JSON.stringify` makes, apart from lone surrogates, which it would let through. */
function canonicalString(text: string): string {
  const json = JSON.stringify(text);
  // It escapes half of a pair: what has no escape is well-formed, and needs no search.
  if (json.length !== text.length + 2 && !isWellFormed(text)) throw new TypeError('A string with a lone surrogate has no JSON form');
  return json;
}

function canonicalArray(items: readonly unknown[]): string {
  // Array.from turns the holes of a sparse array into undefined, which is then refused; map would skip them.
  return `[${Array.from(items, canonicalJson).join(',')}]`;
}

function canonicalObject(value: object): string {
  if (!isPlainObject(value)) throw new TypeError(`An instance of ${value.constructor?.name ?? 'a class'} has no JSON form`);
  // 3.2.3: members in the order of their names' UTF-16 code units, which is how sort() compares strings.
  const names = Object.keys(value).sort();
  let text = '{';
  for (const name of names) text += `${text.length > 1 ? ',' : ''}${canonicalString(name)}:${canonicalJson(value[name])}`;
  return `${text}}`;
}

/** An object literal or what `JSON.parse` makes, of this or another realm (frame, worker, vm): nothing between it and null but one prototype. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
