import type { UsageDimension, UsageRow } from '@tallygate/contract';
import * as z from 'zod';
import { NO_ID, USAGE_SUMS } from './rollup-columns.ts';
import type { UsageQuestion } from './usage-sources.ts';

const Name = z.string().nullable();
const Sum = z.string();
const GROUP_FIELDS = { period: Name, g0: Name, g1: Name };
const SUM_FIELDS = {
  ...{ requests: Sum, input_tokens: Sum, cached_input_tokens: Sum, output_tokens: Sum, cost_nano: Sum, charged_nano: Sum },
  ...{ input_characters: Sum, audio_seconds: Sum, video_seconds: Sum, images: Sum },
};
/** The sums of a group. */
export const GroupRow = z.object({ ...GROUP_FIELDS, ...SUM_FIELDS });
export type GroupRow = z.infer<typeof GroupRow>;

/** SQL: the sums of groups, and those sums as text. */
export const SUMS = USAGE_SUMS.map((name) => `coalesce(sum(${name}), 0) as ${name}`).join();
export const WRITTEN = USAGE_SUMS.map((name) => `${name}::text`).join();

/** SQL: the columns of a source that make its groups. */
export const keysOf = ({ per, groups }: UsageQuestion): string => [...(per ? ['period'] : []), ...groups.map((_, at) => `g${at}`)].join();

/** The names of groups as text, null for none. */
export function namesOf({ per, groups }: UsageQuestion): string {
  const period = { day: 'period::text', hour: `to_char(period at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` };
  const names = [0, 1].map((at) => (at < groups.length ? `nullif(nullif(g${at}::text, ''), '${NO_ID}')` : 'null::text'));
  return `${per ? period[per] : 'null::text'} as period, ${names[0]} as g0, ${names[1]} as g1`;
}

const FIELDS = {
  ...{ account: 'account_id', project: 'project_id', member: 'user_id', key: 'key_id', model: 'model', provider: 'provider' },
  ...{ tag: 'tag', end_user: 'end_user', run: 'run_id', outcome: 'outcome' },
} as const satisfies Record<UsageDimension, keyof UsageRow | 'account_id'>;

/** The names of the columns before the sums, in their order. */
export const groupFields = ({ per, groups }: UsageQuestion): string[] => [...(per ? [per] : []), ...groups.map((group) => FIELDS[group])];
