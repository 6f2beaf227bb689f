import { plainText } from './print.ts';

/**
 * A row as RFC 4180 has it. What a spreadsheet would take for a formula gets an apostrophe in front, as spreadsheets mark text: names of tags and
 * end users come from whoever sends requests.
 */
export const csvRow = (values: readonly (string | number | null | undefined)[]): string => `${values.map(csvCell).join()}\r\n`;

const FORMULA = /^[=+\-@\t\r]/;
const SPECIAL = /[",\r\n]/;

function csvCell(value: string | number | null | undefined): string {
  if (typeof value === 'number') return String(value);
  const text = plainText(value ?? '');
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
