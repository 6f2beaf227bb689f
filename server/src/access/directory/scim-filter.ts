import { ScimError } from './scim-error.ts';

/** `userName eq "ada@example.com"`: what directories ask. */
const EQUALS = /^\s*([\w.]+)\s+eq\s+"((?:[^"\\]|\\.)*)"\s*$/i;

/**
 * Which column is to have which value; undefined where nothing is asked.
 * @param columns by the names of attributes
 * @throws ScimError `invalidFilter`
 */
export function equalsOf<Column extends string>(
  filter: string | undefined,
  columns: Readonly<Record<string, Column>>,
): { readonly column: Column; readonly value: string } | undefined {
  if (filter === undefined) return undefined;
  const [, name = '', value] = EQUALS.exec(filter) ?? [];
  // Names of attributes are compared without regard to case (RFC 7643, 2.1).
  const column = Object.entries(columns).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
  if (column === undefined || value === undefined)
    throw new ScimError(400, `Only \`attribute eq "value"\` is supported, for ${Object.keys(columns).join(', ')}.`, 'invalidFilter');
  return { column, value: value.replaceAll(/\\(.)/g, '$1') };
}
