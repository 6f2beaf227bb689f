import type { AuditLogEntry } from '@tallygate/sdk';
import { tallygate } from '../client.ts';
import { useNames } from '../names.ts';
import type { AuditFilter } from '../searches.ts';
import { from, Paged } from '../ui/paged.tsx';
import { At, Empty } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';

const Cut = ({ text }: { text: string }) => (
  <span className="cut" title={text}>
    {text}
  </span>
);

/** What changed, in a few words; the whole of it is the title. */
function Changed({ changes }: Pick<AuditLogEntry, 'changes'>) {
  const names = Object.keys(changes).map((name) => name.replaceAll('_', ' '));
  return names.length === 0 ? (
    '–'
  ) : (
    <span className="cut" title={JSON.stringify(changes, null, 1)}>
      {names.join(', ')}
    </span>
  );
}

const targetIn = ({ kind, id }: AuditLogEntry['target'], names: ReadonlyMap<string, string>): string => `${kind} ${names.get(id) ?? id}`;

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<AuditLogEntry>[] => [
  { name: 'At', cell: ({ created_at: at }) => <At at={at} /> },
  {
    name: 'What',
    cell: ({ action, target }) => (
      <>
        {action}
        <span className="narrow below">
          <Cut text={targetIn(target, names)} />
        </span>
      </>
    ),
  },
  {
    name: 'Who',
    cell: ({ actor }) => <Cut text={actor.id === null ? actor.kind : (names.get(actor.id) ?? `${actor.kind} ${actor.id}`)} />,
    isSecondary: true,
  },
  { name: 'To', cell: ({ target }) => <Cut text={targetIn(target, names)} />, isSecondary: true },
  { name: 'Changed', cell: ({ changes }) => <Changed changes={changes} />, isSecondary: true },
  { name: 'From', cell: ({ ip }) => (ip === null ? '–' : <Cut text={ip} />), isSecondary: true },
];

interface AuditEntriesProps {
  readonly filter: AuditFilter;
  /** Of another account, for those who run the gateway. */
  readonly accountId?: string;
}

const DAY_MS = 86_400_000;

/** Days as the API has times: from its beginning, to its end, UTC. */
function queryOf({ from: first, to: last, ...rest }: AuditFilter) {
  return {
    ...rest,
    ...(first !== undefined && { from: `${first}T00:00:00Z` }),
    ...(last !== undefined && { to: new Date(Date.parse(last) + DAY_MS).toISOString() }),
  };
}

/** Who changed what. */
export function AuditEntries({ filter, accountId }: AuditEntriesProps) {
  const names = useNames(accountId === undefined ? ['key', 'project', 'member'] : []);
  const query = queryOf(filter);
  return (
    <Paged
      name="audit-log"
      by={JSON.stringify([accountId, query])}
      label="Audit log, the newest first"
      columns={columnsOf(names)}
      idOf={({ entry_id: id }) => id}
      read={async (cursor) =>
        accountId === undefined
          ? tallygate.auditLog.list({ ...query, ...from(cursor) })
          : tallygate.auditLog.listAll({ ...query, account_id: accountId, ...from(cursor) })
      }
      empty={
        Object.keys(query).length === 0 ? (
          <Empty title="Nothing yet">Logins, keys, limits and members leave entries here.</Empty>
        ) : (
          <Empty title="Nothing is found">No entry fits all of the filters.</Empty>
        )
      }
    />
  );
}
