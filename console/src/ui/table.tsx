import type { ReactNode } from 'react';

export interface Column<T> {
  readonly name: string;
  readonly cell: (item: T) => ReactNode;
  /** Figures are right-aligned. */
  readonly isFigure?: true;
  /** Left out on a phone. */
  readonly isSecondary?: true;
  /** Buttons: they stay in view where the table is wider than the screen. */
  readonly isAction?: true;
}

export interface TableProps<T> {
  /** What the rows are, for those who do not see the table. */
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly idOf: (item: T) => string;
}

const classOf = <T,>({ isFigure, isSecondary, isAction }: Column<T>): string =>
  [isFigure && 'figure-cell', isSecondary && 'secondary', isAction && 'action-cell'].filter(Boolean).join(' ');

export function Head<T>({ columns }: { columns: readonly Column<T>[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column.name} scope="col" className={classOf(column)}>
            {column.name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

export function Row<T>({ item, columns }: { item: T; columns: readonly Column<T>[] }) {
  return columns.map((column) => (
    <td key={column.name} className={classOf(column)}>
      {column.cell(item)}
    </td>
  ));
}

export function Table<T>({ label, rows, columns, idOf }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <section className="table" aria-label={label} tabIndex={0}>
      <table>
        <Head columns={columns} />
        <tbody>
          {rows.map((item) => (
            <tr key={idOf(item)}>
              <Row item={item} columns={columns} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
