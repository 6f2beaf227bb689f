import { ReceiptUsage } from '@tallygate/contract';
import * as z from 'zod';
import { Conditions, type UsageQuestion } from './usage-sources.ts';

const COUNTS = ['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'reasoning_tokens'] as const;
type Count = (typeof COUNTS)[number];
const isCount = (name: string): name is Count => (COUNTS as readonly string[]).includes(name);
/** What only some requests have. */
const OTHERS = (Object.keys(ReceiptUsage.shape) as (keyof ReceiptUsage)[]).filter((name) => !isCount(name));

const Name = z.string().nullable();

/** Requests that are charged alike, as one: at one price, for one project, person, key and set of tags, in one hour or day. */
export const FocusGroup = z.object({
  ...{ period: z.string(), account_id: z.string(), account_name: Name, project_id: Name, project_name: Name },
  ...{ user_id: Name, key_id: Name, model: z.string(), provider: z.string(), end_user: Name, tags: z.array(z.string()).nullable() },
  ...{ kind: z.string(), outcome: z.string(), price_version: z.string(), price_factor: z.string(), price_tier: z.number().nullable() },
  unit_prices: z.record(z.string(), z.string()).nullable(),
  /** What the ledger booked: the request, the request taken back by a refund or a correction, or what a correction put in its place. */
  part: z.enum(['request', 'refund', 'corrected', 'correction']),
  /** Whether the month of the requests was over. */
  late: z.boolean(),
  requests: z.number(),
  usage: z.record(z.string(), z.number()),
  /** Nano-USD, positive also where it is given back. */
  ...{ cost_nano: z.string(), charged_nano: z.string() },
});
export type FocusGroup = z.infer<typeof FocusGroup>;

const KEYS = [
  ...['period', 'account_id', 'project_id', 'user_id', 'key_id', 'model', 'provider', 'end_user', 'tags', 'kind', 'outcome'],
  ...['price_version', 'price_factor', 'price_tier', 'unit_prices', 'part', 'late'],
].join();
const AMOUNTS = [...COUNTS, 'meters', 'price_tier', 'unit_prices', 'cost_nano', 'charged_nano'] as const;
const of = (table: string): string => AMOUNTS.map((name) => `${table}.${name}`).join();
const sumOf = (name: string): string => `'${name}', sum(${isCount(name) ? name : `(meters->>'${name}')::bigint`})`;
const USAGE = `jsonb_strip_nulls(jsonb_build_object(${[...COUNTS, ...OTHERS].map(sumOf).join()}))`;
const isLate = (requestedAt: string): string =>
  `${requestedAt} >= (date_trunc('month', started_at at time zone 'UTC') + interval '1 month') at time zone 'UTC'`;

/** Everything that the ledger booked of requests that started between two days of UTC, in the order of the file. */
export function focusGroups(question: UsageQuestion): { text: string; values: unknown[] } {
  const sql = new Conditions(question);
  const { period, where } = sql.inZone('started_at');
  const requests = `select *, ${period} as period from (select *, model_served as model from usage_records) as named
    where outcome <> 'failed' and ${where}`;
  const text = `with booked as (
      select u.period, u.account_id, u.project_id, u.user_id, u.key_id, u.model, u.provider, u.end_user, u.tags, u.kind, u.outcome,
        u.price_version, u.price_factor, part.*
      from (${requests}) u
        left join price_sets s on s.id = u.price_set_id
        left join corrections c on c.request_id = u.request_id and c.attempt = u.attempt and c.posted_at is not null
        left join refunds r on r.request_id = u.request_id and r.attempt = u.attempt and r.posted_at is not null
        cross join lateral (select ${of('u').replace('u.unit_prices', 'coalesce(u.unit_prices, s.unit_prices) as unit_prices')}) settled
        cross join lateral (
          select 'request' as part, false as late, ${of('settled')}
          union all select 'corrected', ${isLate('c.requested_at')}, ${of('settled')} where c.correction_id is not null
          union all select 'correction', ${isLate('c.requested_at')}, ${of('c')} where c.correction_id is not null
          union all select 'refund', ${isLate('r.requested_at')}, ${of('settled')} where r.refund_id is not null and c.correction_id is null
          union all select 'refund', ${isLate('r.requested_at')}, ${of('c')} where r.refund_id is not null and c.correction_id is not null
        ) part
    ), summed as (
      select ${KEYS}, count(*)::float8 as requests, ${USAGE} as usage, sum(cost_nano) as cost_nano, sum(charged_nano) as charged_nano
      from booked group by ${KEYS}
    )
    select ${startOf(question)} as period, summed.account_id, a.name as account_name, project_id, p.name as project_name, user_id, key_id, model,
      provider, end_user, tags, kind, outcome, price_version, price_factor, price_tier, unit_prices, part, late, requests, usage,
      cost_nano::text, charged_nano::text
    from summed left join accounts a on a.id = summed.account_id left join projects p on p.id = summed.project_id
    order by summed.period, account_id, project_id, model, provider, user_id, key_id, end_user, tags, kind, outcome, part, late,
      price_version, price_factor, price_tier, unit_prices`;
  return { text, values: sql.values };
}

const startOf = ({ per }: UsageQuestion): string =>
  per === 'hour' ? `to_char(summed.period at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')` : `summed.period::text || 'T00:00:00Z'`;
