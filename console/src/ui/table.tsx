import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';

export interface Column<T> {
  readonly name: string;
  readonly cell: (item: T) => ReactNode;
  /** Figures are right-aligned. */
  readonly isFigure?: true;
  /** Left out on a phone. */
  readonly isSecondary?: true;
}

interface TableProps<T> {
  /** What the rows are, for those who do not see the table. */
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly idOf: (item: T) => string;
}

const classOf = <T,>({ isFigure, isSecondary }: Column<T>): string =>
  [isFigure && 'figure-cell', isSecondary && 'secondary'].filter(Boolean).join(' ');

function Head<T>({ columns }: { columns: readonly Column<T>[] }) {
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

function Row<T>({ item, columns }: { item: T; columns: readonly Column<T>[] }) {
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

const ROW_PX = 44;

interface LongTableProps<T> extends TableProps<T> {
  /** Called when the last rows come into view. */
  readonly onEnd: () => void;
}

/** For lists without a bound: only the rows in view are in the page. */
export function LongTable<T>({ label, rows, columns, idOf, onEnd }: LongTableProps<T>) {
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    onChange: ({ range }) => {
      if (range && range.endIndex >= rows.length - 1) onEnd();
    },
  });
  const shown = virtual.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
    <section className="table long" aria-label={label} tabIndex={0} ref={frame}>
      <table aria-rowcount={rows.length}>
        <Head columns={columns} />
        <tbody>
          <tr style={{ height: above }} />
          {shown.map(({ index }) => {
            const item = rows[index];
            return (
              item !== undefined && (
                <tr key={idOf(item)} aria-rowindex={index + 1} style={{ height: ROW_PX }}>
                  <Row item={item} columns={columns} />
                </tr>
              )
            );
          })}
          <tr style={{ height: below }} />
        </tbody>
      </table>
    </section>
  );
}
