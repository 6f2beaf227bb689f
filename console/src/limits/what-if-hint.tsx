import type { LimitKind, UsageQuery, UsageRow } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { useLivemode } from '../mode.ts';
import { lastMonth, type Period, perOf, whatIf } from '../what-if.ts';

/** The usage that a limit is about. */
export interface Subject {
  readonly kind: LimitKind;
  readonly subject: string | null;
}

/** By what usage of that kind is grouped, and where a row has whose it is. Keys and models can be asked for by themselves. */
const GROUPS: Readonly<Partial<Record<LimitKind, keyof UsageRow>>> = {
  project: 'project_id',
  member: 'user_id',
  run: 'run_id',
  end_user: 'end_user',
  tag: 'tag',
};

/** More groups than that the API does not list: then it says nothing rather than something that is not so. */
const MOST_GROUPS = 1_000;

function queryOf({ kind, subject }: Subject, period: Period, livemode: boolean): UsageQuery {
  const ofMonth = { ...lastMonth(), livemode, per: perOf(period) };
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
  const query = queryOf(about, period, livemode);
  const isOfEach = about.kind !== 'account' && about.subject === null;
  const { data } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query), enabled: !isOfEach });
  const field = GROUPS[about.kind];
  const rows = data?.items.filter((row) => field === undefined || row[field] === about.subject) ?? [];
  return (
    <p className="hint" role="status">
      {data && (data.items.length < MOST_GROUPS ? whatIf(cap, period, rows) : '')}
    </p>
  );
}
