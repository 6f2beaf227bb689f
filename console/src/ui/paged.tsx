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
  /** Of what is shown: whether it goes on by itself, so that it is asked for again. */
  readonly isMoving?: (items: readonly T[]) => boolean;
}

const ASK_AGAIN_MS = 2_000;
const still = (): boolean => false;

const rowsOf = <T,>({ pages }: { readonly pages: readonly { readonly data: readonly T[] }[] }): readonly T[] =>
  pages.flatMap((page) => page.data);

/** A list that is read further as it is scrolled. */
export function Paged<T>({ name, label, columns, idOf, read, empty, by = '', isMoving = still }: PagedProps<T>) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [name, by],
    queryFn: async ({ pageParam }) => read(pageParam),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state }) => state.data !== undefined && isMoving(rowsOf(state.data)) && ASK_AGAIN_MS,
  });
  if (!data) return <Pending error={error} />;
  const rows = rowsOf(data);
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
