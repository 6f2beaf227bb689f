import type { Fields } from '../fields.ts';

/** Google's complaint about the first field that it does not know. */
export function unknownName(fields: Fields, known: ReadonlySet<string>): string | undefined {
  const name = Object.keys(fields).find((one) => !known.has(one));
  return name === undefined ? undefined : `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`;
}
