import type { AuditLogEntry } from '@tallygate/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { useNames } from '../names.ts';
import { LongTable } from '../ui/long-table.tsx';
import { At, Empty, PageHead, Pending } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

const Cut = ({ text }: { text: string }) => (
  <span className="cut" title={text}>
    {text}
  </span>
);

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<AuditLogEntry>[] => [
  { name: 'At', cell: ({ created_at: at }) => <At at={at} /> },
  { name: 'What', cell: ({ action }) => action },
  {
    name: 'Who',
    cell: ({ actor }) => <Cut text={actor.id === null ? actor.kind : (names.get(actor.id) ?? `${actor.kind} ${actor.id}`)} />,
    isSecondary: true,
  },
  { name: 'To', cell: ({ target }) => <Cut text={`${target.kind} ${names.get(target.id) ?? target.id}`} /> },
  { name: 'From', cell: ({ ip }) => ip ?? '–', isSecondary: true },
];

export function AuditLogPage() {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['audit-log'],
    queryFn: async ({ pageParam }) => tallygate.auditLog.list(pageParam ? { cursor: pageParam } : {}),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const names = useNames(['key', 'project', 'member']);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const more = (): void => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  };
  return (
    <>
      <PageHead title="Audit log">Who changed what, and from where.</PageHead>
      {!data && <Pending error={error} />}
      {rows.length > 0 && (
        <LongTable
          label="Audit log, the newest first"
          rows={rows}
          columns={columnsOf(names)}
          idOf={({ entry_id: id }) => id}
          onEnd={more}
        />
      )}
      {data && rows.length === 0 && <Empty title="Nothing yet">Logins, keys, limits and members leave entries here.</Empty>}
    </>
  );
}
