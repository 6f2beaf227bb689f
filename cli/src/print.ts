import { styleText } from 'node:util';
import { type TableColumn, tableLines } from './table.ts';
import type { World } from './world.ts';

/** One column of a list, or one line of a record. */
export interface Column<T> extends TableColumn {
  readonly of: (row: T) => string | number | boolean | null | undefined;
  /** Of a chart: the cell where the terminal has no more than so many columns left for it. */
  readonly draw?: (row: T, width: number) => string;
}

interface PrintWorld extends Pick<World, 'out' | 'env'> {
  /** The fields that `--json` asks for; `undefined` without it. */
  readonly jsonFields: readonly string[] | undefined;
}

/**
 * A list in the form its reader can use: the wanted fields as one line of JSON, else an aligned table for people, else
 * tab-separated lines without a header.
 *
 * @param none what people read where there is nothing
 */
export function printList<T extends object>(world: PrintWorld, rows: readonly T[], columns: readonly Column<T>[], none = 'None.'): void {
  const { out, env, jsonFields } = world;
  if (jsonFields !== undefined) {
    out.write(`${JSON.stringify(rows.map((row) => pick(row, jsonFields)))}\n`);
    return;
  }
  const cells = rows.map((row) => columns.map((column) => cellText(column.of(row))));
  if (!out.isTty) {
    for (const row of cells) out.write(`${row.join('\t')}\n`);
    return;
  }
  if (rows.length === 0) {
    out.write(`${none}\n`);
    return;
  }
  const draw = (row: number, column: number, width: number) => {
    const [of, drawn] = [rows[row], columns[column]?.draw];
    return of && drawn?.(of, width);
  };
  for (const { text, isHead } of tableLines({ columns, rows: cells, draw }, out.columns))
    out.write(`${isHead ? bold(text, env.hasColor) : text}\n`);
}

/** One record: the wanted fields as a line of JSON, else a line per property. */
export function printRecord<T extends object>(world: PrintWorld, record: T, lines: readonly Column<T>[]): void {
  const { out, env, jsonFields } = world;
  if (jsonFields !== undefined) {
    out.write(`${JSON.stringify(pick(record, jsonFields))}\n`);
    return;
  }
  const width = Math.max(...lines.map(({ title }) => title.length));
  for (const { title, of } of lines) {
    const value = cellText(of(record));
    out.write(out.isTty ? `${bold(title.padEnd(width), env.hasColor)}  ${value}\n` : `${title}\t${value}\n`);
  }
}

/** One of many records that come one by one: a line of JSON each, so that a reader needs no end. */
export const writeJsonLine = ({ out }: PrintWorld, record: object, fields: readonly string[]): void =>
  out.write(`${JSON.stringify(pick(record, fields))}\n`);

const bold = (text: string, hasColor: boolean): string => (hasColor ? styleText('bold', text, { validateStream: false }) : text);

const pick = (row: object, fields: readonly string[]): object => {
  const members = new Map<string, unknown>(Object.entries(row));
  return Object.fromEntries(fields.map((field) => [field, members.get(field) ?? null]));
};

const cellText = (value: string | number | boolean | null | undefined): string =>
  value === null || value === undefined ? '-' : plainText(String(value)).replace(/[\t\n]/g, ' ');

/**
 * Text that cannot take the terminal over: names, error messages and model output come from others, and an escape sequence in them
 * could rewrite the screen or worse. Line breaks and tabs stay.
 */
export const plainText = (text: string): string => text.replace(/[^\P{Cc}\n\t]|\p{Bidi_Control}/gu, '');

/** Decimal notation of a small USD amount: `0.00000255`, never `2.55e-6`. */
export const usdText = (amount: number): string => amount.toFixed(9).replace(/\.?0+$/, '');
