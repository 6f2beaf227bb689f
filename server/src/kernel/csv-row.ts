/**
 * A row as RFC 4180 writes it. A cell that a spreadsheet would run as a formula gets an apostrophe in front (OWASP, CSV injection): what
 * people type into public forms, or name in requests, must not be code on the machine on which the export is opened. A number is no formula.
 */
export const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

const FORMULA = /^(?!-\d+(?:\.\d+)?$)[=+\-@\t\r\n]/;

const csvCell = (text: string): string => {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** What an export put in front of a cell is taken off when it comes back. */
export const withoutGuard = (cell: string): string => (/^'[=+\-@\t\r\n]/.test(cell) ? cell.slice(1) : cell);
