import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LongTable } from './long-table.tsx';
import { Pending } from './parts.tsx';
import type { Column } from './table.tsx';

interface PagedProps<T> {
  readonly name: string;
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly idOf: (item: T) => string;
  /** One page, from a cursor on; '' for the first. */
  readonly read: (cursor: string) => Promise<{ readonly data: readonly T[]; readonly next_cursor: string | null }>;
  /** What to do first, where there is nothing yet. */
  readonly empty: ReactNode;
  /** What the list depends on beside its name. */
  readonly by?: string;
}

/** A list that is read further as it is scrolled. */
export function Paged<T>({ name, label, columns, idOf, read, empty, by = '' }: PagedProps<T>) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [name, by],
    queryFn: async ({ pageParam }) => read(pageParam),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  if (!data) return <Pending error={error} />;
  const rows = data.pages.flatMap((page) => page.data);
  const more = (): void => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  return rows.length === 0 ? empty : <LongTable label={label} rows={rows} columns={columns} idOf={idOf} onEnd={more} />;
}

/** The cursor as a query has it. */
export const from = (cursor: string): { readonly cursor?: string } => (cursor === '' ? {} : { cursor });

export function useReload(...names: readonly string[]): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    for (const name of names) await client.invalidateQueries({ queryKey: [name] });
  };
}
