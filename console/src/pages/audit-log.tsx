import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { AuditEntries } from '../audit/entries.tsx';
import { tallygate } from '../client.ts';
import { type AuditFilter, auditSearch } from '../searches.ts';
import { type FilterField, FilterForm } from '../ui/filter-form.tsx';
import { PageHead } from '../ui/parts.tsx';
import { SavedFilters } from '../ui/saved-filters.tsx';

const MOST = 200;
/** Of each noun all actions; one of them can be typed. */
const ACTIONS = [
  ...['user', 'session', 'login', 'device_login', 'mfa', 'passkey', 'account', 'member', 'project', 'key', 'key.created', 'key.rotated'],
  ...['key.revoked', 'management_key', 'limit', 'webhook', 'plan', 'payment', 'auto_topup', 'request', 'run', 'model'],
];

/** Who may have done it: people and API keys, by their names. */
function useActors(asked: string | undefined): readonly (readonly [id: string, name: string])[] {
  const keys = useQuery({ queryKey: ['keys'], queryFn: () => tallygate.keys.list() });
  const members = useQuery({ queryKey: ['members'], queryFn: async () => tallygate.members.list({ limit: MOST }) });
  const known = [
    ...(members.data?.data ?? []).map(({ user_id: id, email }) => [id, email] as const),
    ...(keys.data ?? []).map(({ key_id: id, name }) => [id, `key ${name}`] as const),
  ];
  return asked === undefined || known.some(([id]) => id === asked) ? known : [...known, [asked, asked]];
}

export function AuditLogPage() {
  const filter = useSearch({ from: '/frame/audit-log', select: auditSearch });
  const navigate = useNavigate({ from: '/audit-log' });
  const actors = useActors(filter.actor_id);
  const show = (search: AuditFilter): void => void navigate({ search });
  const fields: readonly FilterField<keyof AuditFilter>[] = [
    { name: 'action', label: 'What', placeholder: 'key.created', suggestions: ACTIONS },
    { name: 'actor_id', label: 'Who', options: [['', 'anybody'], ...actors] },
    { name: 'target_id', label: 'To which id' },
    { name: 'ip', label: 'From address' },
    { name: 'from', label: 'Since, UTC', type: 'date' },
    { name: 'to', label: 'Until, UTC', type: 'date' },
  ];
  return (
    <>
      <PageHead title="Audit log">Who changed what, and from where.</PageHead>
      <FilterForm fields={fields} filter={filter} onSearch={show} />
      <SavedFilters page="audit-log" search={filter} onChoose={show} />
      <AuditEntries filter={filter} />
    </>
  );
}
