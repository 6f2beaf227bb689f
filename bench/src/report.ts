import type { Name } from './subjects.ts';

/** One measured quantity, for each way to the provider that has it. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly values: Readonly<Partial<Record<Name, number>>>;
  /** False where a quotient would say nothing. */
  readonly isComparable?: boolean;
}

const COLUMNS = ['', 'unit', 'direct', 'bare proxy', 'gateway', 'gateway ÷ bare'];

/** Rows under their headings, aligned. */
export function table(views: readonly { title: string; rows: readonly Row[] }[]): string {
  const lines = views.flatMap(({ title, rows }) => [[title], ...rows.map(cells)]);
  const widths = COLUMNS.map((column, at) =>
    Math.max(column.length, ...lines.filter((line) => line.length > 1).map((line) => line[at]?.length ?? 0)),
  );
  const aligned = (line: readonly string[]) =>
    line.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ');
  return [aligned(COLUMNS), ...lines.map((line) => (line.length === 1 ? `\n${line[0]}` : aligned(line)))].join('\n');
}

function cells({ what, unit, values, isComparable = true }: Row): string[] {
  const { direct, bare, gateway } = values;
  const ratio = isComparable && bare && gateway !== undefined ? `${(gateway / bare).toFixed(2)}×` : '';
  return [`  ${what}`, unit, shown(direct), shown(bare), shown(gateway), ratio];
}

function shown(value: number | undefined): string {
  if (value === undefined) return '–';
  const size = Math.abs(value);
  return size >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en') : value.toFixed(size >= 10 ? 1 : 3);
}
