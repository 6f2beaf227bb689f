/** A row of a public list: anybody may have written it, so each field is looked at when it is read. */
export type Row = Readonly<Record<string, unknown>>;

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 60);

/** @throws TypeError where it is no object: then the list is not what it was taken for */
export function rowOf(value: unknown): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError(`Expected an object instead of ${shown(value)}`);
  return value as Row;
}

export const rowsOf = (value: unknown): [string, Row][] => Object.entries(rowOf(value)).map(([key, row]) => [key, rowOf(row)]);

/** Not there and null are the same. @throws TypeError where it is no number of zero or more */
export function numberAt(row: Row, field: string): number | undefined {
  const value = row[field] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !(value >= 0)) throw new TypeError(`Expected a number at ${field} instead of ${shown(value)}`);
  return value;
}

/** A limit in tokens: 0 says that it is not known, and so does a sentence. */
export function limitAt(row: Row, field: string): number | undefined {
  const value = Number(row[field] ?? 0);
  return Number.isInteger(value) && value > 0 ? value : undefined;
}

export function textAt(row: Row, field: string): string | undefined {
  const value = row[field];
  return typeof value === 'string' ? value : undefined;
}

export function wordsAt(row: Row, field: string): string[] {
  const value = row[field];
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : [];
}

/** "2026-11-12"; a day that is only a month, or a word, is none. */
export function dayAt(row: Row, field: string): string | undefined {
  const text = textAt(row, field);
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : undefined;
}
