import { useQuery } from '@tanstack/react-query';
import { tallygate } from './client.ts';

const MOST = 200;

/** What has a name beside its id. */
type Named = 'key' | 'project' | 'member';

/** The names of keys, projects and members by their ids; of those that the person may see. */
export function useNames(of: readonly string[]): ReadonlyMap<string, string> {
  const wants = (one: Named): boolean => of.includes(one);
  const keys = useQuery({ queryKey: ['keys'], queryFn: () => tallygate.keys.list(), enabled: wants('key') });
  const projects = useQuery({
    queryKey: ['projects'],
    queryFn: async () => tallygate.projects.list({ limit: MOST }),
    enabled: wants('project'),
  });
  const members = useQuery({
    queryKey: ['members'],
    queryFn: async () => tallygate.members.list({ limit: MOST }),
    enabled: wants('member'),
  });
  return new Map([
    ...(keys.data ?? []).map(({ key_id: id, name }) => [id, name] as const),
    ...(projects.data?.data ?? []).map(({ project_id: id, name }) => [id, name] as const),
    ...(members.data?.data ?? []).map(({ user_id: id, email }) => [id, email] as const),
  ]);
}
