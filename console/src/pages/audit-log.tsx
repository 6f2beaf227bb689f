import type { AuditLogEntry } from '@tallygate/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { LongTable } from '../ui/long-table.tsx';
import { At, Empty, Failure, Loading, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

const Cut = ({ text }: { text: string }) => (
  <span className="cut" title={text}>
    {text}
  </span>
);

const COLUMNS: readonly Column<AuditLogEntry>[] = [
  { name: 'At', cell: ({ created_at: at }) => <At at={at} /> },
  { name: 'What', cell: ({ action }) => action },
  { name: 'Who', cell: ({ actor }) => <Cut text={actor.id === null ? actor.kind : `${actor.kind} ${actor.id}`} />, isSecondary: true },
  { name: 'To', cell: ({ target }) => <Cut text={`${target.kind} ${target.id}`} /> },
  { name: 'From', cell: ({ ip }) => ip ?? '–', isSecondary: true },
];

export function AuditLogPage() {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['audit-log'],
    queryFn: async ({ pageParam }) => tallygate.auditLog.list(pageParam ? { cursor: pageParam } : {}),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const more = (): void => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  return (
    <>
      <PageHead title="Audit log">Who changed what, and from where.</PageHead>
      {error && <Failure error={error} />}
      {!error && !data && <Loading />}
      {rows.length > 0 && (
        <LongTable label="Audit log, the newest first" rows={rows} columns={COLUMNS} idOf={({ entry_id: id }) => id} onEnd={more} />
      )}
      {data && rows.length === 0 && <Empty title="Nothing yet">Logins, keys, limits and members leave entries here.</Empty>}
    </>
  );
}
