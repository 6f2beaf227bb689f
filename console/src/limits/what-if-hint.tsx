import type { LimitKind, UsageQuery, UsageRow } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { useLivemode } from '../mode.ts';
import { lastMonth, type Period, whatIf } from '../what-if.ts';

/** The usage that a limit is about. */
export interface Subject {
  readonly kind: LimitKind;
  readonly subject: string | null;
}

/** By what usage of that kind is grouped, and where a row has whose it is. Of keys and models, days can be asked for by themselves. */
const GROUPS: Readonly<Partial<Record<LimitKind, keyof UsageRow>>> = {
  project: 'project_id',
  member: 'user_id',
  run: 'run_id',
  end_user: 'end_user',
  tag: 'tag',
};

/** By days where the API tells them apart, else the sum of the month. */
function queryOf({ kind, subject }: Subject, livemode: boolean): UsageQuery {
  const ofMonth = { ...lastMonth(), livemode };
  if (kind === 'key' && subject !== null) return { ...ofMonth, key_id: subject };
  if (kind === 'model' && subject !== null) return { ...ofMonth, model: subject };
  return { ...ofMonth, ...(GROUPS[kind] && { group_by: kind }) };
}

interface WhatIfProps extends Subject {
  readonly cap: string;
  readonly period: Period;
}

/** What the cap that is being typed would have done to last month's usage. */
export function WhatIf({ cap, period, ...about }: WhatIfProps) {
  const livemode = useLivemode();
  const query = queryOf(about, livemode);
  const isOfEach = about.kind !== 'account' && about.subject === null;
  const { data } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query), enabled: !isOfEach });
  const field = GROUPS[about.kind];
  const rows = data?.items.filter((row) => field === undefined || row[field] === about.subject) ?? [];
  return (
    <p className="hint" role="status">
      {data && whatIf(cap, period, rows)}
    </p>
  );
}
