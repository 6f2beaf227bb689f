const GAP = '  ';
/** Less than this says nothing. */
const LEAST_WIDTH = 8;
const INDENT = '  ';

export interface TableColumn {
  readonly title: string;
  readonly align?: 'right';
  /** May be left out where the terminal is too narrow for all. */
  readonly isSpare?: boolean;
}

/** What a terminal shows of rows. */
interface Table {
  readonly columns: readonly TableColumn[];
  /** The texts of each row, one for each column. */
  readonly rows: readonly (readonly string[])[];
  /** The text of a chart, which is drawn anew for the width that it gets. */
  draw(row: number, column: number, width: number): string | undefined;
}

/** A line of the table, and whether it heads what follows. */
interface Line {
  readonly text: string;
  readonly isHead: boolean;
}

/**
 * Rows as lines that fit the terminal. Where the columns do not, moments lose their seconds, the widest texts are cut, moments lose their
 * time, and what is spare is left out, the last column first; where even that is too wide, each row becomes a block of lines. What names a row
 * is copied, and stays whole, and so do numbers: a shortened one would be a wrong one.
 */
export function tableLines(table: Table, available = Number.POSITIVE_INFINITY): readonly Line[] {
  let shown = table.columns.map((_, index) => index);
  for (;;) {
    const widths = fittedWidths(table, shown, available);
    if (widths) return gridLines(table, shown, widths);
    const spare = shown.findLast((index) => table.columns[index]?.isSpare);
    if (spare === undefined) break;
    shown = shown.filter((index) => index !== spare);
  }
  return table.rows.flatMap((row) => blockLines(table, row, available));
}

function gridLines({ columns, rows, draw }: Table, shown: readonly number[], widths: readonly number[]): Line[] {
  const line = (textAt: (column: number, width: number) => string) =>
    shown
      .map((column, index) => {
        const width = widths[index] ?? 0;
        const text = textAt(column, width);
        return columns[column]?.align === 'right' ? text.padStart(width) : fitted(text, width).padEnd(width);
      })
      .join(GAP)
      .trimEnd();
  const titles = { text: line((column) => columns[column]?.title.toUpperCase() ?? ''), isHead: true };
  return [
    titles,
    ...rows.map((row, at) => ({ text: line((column, width) => draw(at, column, width) ?? row[column] ?? ''), isHead: false })),
  ];
}

/** What names the row, whole, and a line for each further column. */
function blockLines({ columns }: Table, row: readonly string[], available: number): Line[] {
  const [name = '', ...rest] = row;
  const titled = rest.map((text, index) => ({ text, title: columns[index + 1]?.title ?? '' })).filter(({ title }) => title !== '');
  const width = Math.max(...titled.map(({ title }) => title.length));
  const left = Math.max(LEAST_WIDTH, available - INDENT.length - width - GAP.length);
  const lines = titled.map(({ title, text }) => `${INDENT}${title.padEnd(width)}${GAP}${fitted(text, left)}`);
  return [{ text: name, isHead: true }, ...lines.map((text) => ({ text, isHead: false }))];
}

/** Takes from the widest columns until a line fits the terminal, but never below what a column needs at least. */
function fittedWidths({ columns, rows }: Table, shown: readonly number[], available: number): readonly number[] | undefined {
  const texts = shown.map((column) => rows.map((row) => row[column] ?? ''));
  const titles = shown.map((column) => columns[column]?.title.length ?? 0);
  const widths = texts.map((cells, index) => Math.max(titles[index] ?? 0, ...cells.map((text) => text.length)));
  const narrower = shown.map((column, index) => {
    const title = titles[index] ?? 0;
    const cells = texts[index] ?? [];
    const isWhole = columns[column]?.align === 'right' || (index === 0 && !cells.some(isMoment));
    return isWhole ? () => undefined : stepDown(cells, title);
  });
  let excess = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - available;
  while (excess > 0) {
    const steps = widths.map((width, index) => {
      const next = narrower[index]?.(width);
      // Seconds are what a reader misses least. One character at a time is taken from texts alone.
      const losesSeconds = next === TO_THE_MINUTE && width - next > 1;
      return { index, width, next, rank: losesSeconds ? Number.POSITIVE_INFINITY : width };
    });
    const [widest] = steps
      .filter(({ next }) => next !== undefined)
      .sort((a, b) => (a.rank === b.rank ? b.index - a.index : b.rank - a.rank));
    if (widest?.next === undefined) return undefined;
    excess -= widest.width - widest.next;
    widths[widest.index] = widest.next;
  }
  return widths;
}

/** The next smaller width of a column; `undefined` at the end. A column of times has the few widths that a time can be printed in. */
function stepDown(texts: readonly string[], title: number): (width: number) => number | undefined {
  const hasMoments = texts.some(isMoment);
  const others = Math.max(title, ...texts.filter((text) => !isMoment(text)).map((text) => Math.min(text.length, LEAST_WIDTH)));
  return (width) => {
    const next = hasMoments ? MOMENT_WIDTHS.find((each) => each < width) : width - 1;
    return next === undefined || next < Math.max(others, hasMoments ? 0 : LEAST_WIDTH) ? undefined : next;
  };
}

const TO_THE_MINUTE = '2026-11-21 08:00'.length;
const MOMENT_WIDTHS = [TO_THE_MINUTE, '2026-11-21'.length];
const isMoment = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text);

/** The text as far as it fits: a moment in a shorter form, never half of one. */
function fitted(text: string, width: number): string {
  if (text.length <= width) return text;
  if (!isMoment(text)) return `${text.slice(0, width - 1)}…`;
  const shorter = MOMENT_WIDTHS.find((each) => each <= width) ?? MOMENT_WIDTHS.at(-1);
  return text.replace('T', ' ').slice(0, shorter);
}
