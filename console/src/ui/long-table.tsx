import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { Head, Row, type TableProps } from './table.tsx';

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
