import type { UsageDimension } from '@tallygate/contract';
import { isSeenIn, type Seen } from '../../http/index.ts';
import { DETAILS, USAGE_METERS, USAGE_SUMS } from './rollup-columns.ts';

export interface UsageQuestion {
  /** Absent for an operator who asks for all accounts. */
  readonly accountId: string | undefined;
  readonly livemode: boolean;
  /** Days of the time zone, both included. */
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly per: 'hour' | 'day' | undefined;
  readonly groups: readonly UsageDimension[];
  /** Of these alone. */
  readonly seen?: Seen | undefined;
  readonly model?: string | undefined;
  readonly keyId?: string | undefined;
  readonly runId?: string | undefined;
}

/** Where the answer to a question is, in SQL. Relations have the columns `period` (where it is per hour or day), `g0`, `g1` and the sums. */
export interface UsageSource {
  /** What is read once, and named by the relations. */
  readonly base?: string;
  readonly rows: string;
  /** Usage that has no end user, tag or run: all of it, less what has one. */
  readonly rest?: string;
  /** The sums alone: every request once, though it may have several tags. */
  readonly total: string;
  readonly values: unknown[];
}

/** The columns of the groups. Where a row has none, it is the empty text or {@link NO_ID}. */
const COLUMNS = {
  ...{ account: 'account_id', project: 'project_id', member: 'user_id', key: 'key_id', model: 'model', provider: 'provider' },
  ...{ outcome: 'outcome', run: 'run_id', end_user: 'end_user', tag: 'tag' },
} as const satisfies Record<UsageDimension, string>;
const LABELS: ReadonlySet<UsageDimension> = new Set(['run', 'end_user', 'tag']);
/** What `usage_daily` has, which is smaller than `usage_details_daily`. */
const OF_DAYS: ReadonlySet<UsageDimension> = new Set(['account', 'key', 'model']);
const UTC: ReadonlySet<string> = new Set(['UTC', 'Etc/UTC', 'GMT', 'Etc/GMT']);

const SUMS = USAGE_SUMS.join();
const ADDED_UP = USAGE_SUMS.map((name) => `sum(${name}) as ${name}`).join();
const ADDED = USAGE_SUMS.map((name) => `sum(${name})`).join();
const ZEROS = USAGE_SUMS.map(() => '0').join();
const NEGATED = USAGE_SUMS.map((name) => `-${name}`).join();

/** Sums of all time zones and groups are kept only so far: the others are added up from the requests themselves. */
export function isOfRequests({ per, groups, runId, timeZone }: UsageQuestion): boolean {
  const labels = groups.filter((group) => LABELS.has(group));
  const isByUtcDay = per !== 'hour' && UTC.has(timeZone);
  if (runId === undefined) return labels.length > (isByUtcDay ? 1 : 0);
  return !isByUtcDay || labels.some((label) => label !== 'run');
}

export function usageSource(question: UsageQuestion): UsageSource {
  if (isOfRequests(question)) return ofRequests(question);
  if (question.per === 'hour') return ofQuarterHours(question);
  return UTC.has(question.timeZone) ? ofDays(question) : ofDaysInZone(question);
}

function ofQuarterHours(question: UsageQuestion): UsageSource {
  const sql = new Conditions(question);
  const { period, where } = sql.inZone('starts_at');
  return readOnce(question, relation({ period, groups: question.groups, from: `from usage_quarter_hours where ${where}` }), sql);
}

/**
 * Days in UTC, and what of them is in another day of the time zone: quarters of an hour around midnight, a part of a whole month’s. They are added to
 * their own day and taken from the other, so that a group whose requests are all of the other day comes to nothing and is left out.
 */
function ofDaysInZone(question: UsageQuestion): UsageSource {
  const { groups, per } = question;
  const sql = new Conditions(question);
  const days = `select * from ${tableOfDays(question)} where ${sql.ofDays()}`;
  const moved = `select moved.day, account_id, ${DETAILS}, ${USAGE_SUMS.map((name) => `sign * ${name} as ${name}`).join()} from ${sql.aroundMidnights('starts_at')}`;
  const of = (from: string) => relation({ period: per && 'day', groups, from });
  return readOnce(
    question,
    `${of(`from (${days}) days`)} union all ${of(`from (${moved}) moved`)}`,
    sql,
    `having (${ADDED}) <> (${ZEROS})`,
  );
}

/** Read once, though it is asked for the most costly groups, for their sums and for the total: it has many more rows than days have. */
function readOnce({ per, groups }: UsageQuestion, rows: string, { values }: Conditions, having = ''): UsageSource {
  const names = [...(per === undefined ? [] : ['period']), ...groups.map((_, at) => `g${at}`)].join();
  return {
    base: `base as materialized (select ${names}, ${ADDED_UP} from (${rows}) of_base group by ${names} ${having})`,
    rows: `select ${names}, ${SUMS} from base`,
    total: `select ${SUMS} from base`,
    values,
  };
}

const tableOfDays = ({ groups, seen }: Pick<UsageQuestion, 'groups' | 'seen'>): string =>
  !seen && groups.every((group) => LABELS.has(group) || OF_DAYS.has(group)) ? 'usage_daily' : 'usage_details_daily';

function ofDays(question: UsageQuestion): UsageSource {
  const { groups, runId } = question;
  const sql = new Conditions(question);
  const where = sql.ofDays();
  const label = groups.find((group) => LABELS.has(group));
  const isOfRuns = runId !== undefined;
  const details = isOfRuns ? 'usage_runs_daily' : tableOfDays(question);
  const all = isOfRuns ? 'usage_runs_daily' : 'usage_daily';
  const total = `select ${SUMS} from ${question.seen ? details : all} where ${where}`;
  const of = (table: string, more = '', column?: string, sums?: string) =>
    relation({ period: question.per && 'day', groups, from: `from ${table} where ${where}${more}`, column, sums });
  if (label === undefined || isOfRuns) return { rows: of(details), total, values: sql.values };
  const whole = of(details, '', `''`);
  const ofAny = of('usage_labels_daily', ` and label = 'any_${label}'`, `''`, NEGATED);
  const rows = label === 'run' ? of('usage_runs_daily') : of('usage_labels_daily', ` and label = '${label}'`, 'value');
  return { rows, rest: `${whole} union all ${ofAny}`, total, values: sql.values };
}

const meter = (name: string) => `coalesce((meters->>'${name}')::bigint, 0)`;
const SETTLED_SUMS = [`(outcome <> 'failed')::int`, ...USAGE_SUMS.slice(1, -USAGE_METERS.length), ...USAGE_METERS.map(meter)].map(
  (value, index) => `sum(${value}) as ${USAGE_SUMS[index]}`,
);

/** Settled requests in the columns of the sums. */
const REQUESTS = `(select *, model_served as model, coalesce(key_id::text, '') as key, coalesce(project_id::text, '') as project,
  coalesce(user_id::text, '') as member, coalesce(run_id, '') as run, coalesce(end_user, '') as named from standing_usage where not refunded) as requests`;
const OF_REQUESTS: Readonly<Record<UsageDimension, string>> = {
  ...{ account: 'account_id', project: 'project', member: 'member', key: 'key', model: 'model', provider: 'provider', outcome: 'outcome' },
  ...{ run: 'run', end_user: 'named', tag: 'tags' },
};

/** Read once, each group with its set of tags: what has several counts under each of them, and once in the total. */
function ofRequests(question: UsageQuestion): UsageSource {
  const { groups } = question;
  const sql = new Conditions(question);
  const { period, where } = sql.inZone('started_at');
  const keys = [...(period === undefined ? [] : [`${period} as period`]), ...groups.map((group, at) => `${OF_REQUESTS[group]} as g${at}`)];
  const numbered = keys.map((_, at) => at + 1).join();
  const base = `base as materialized (select ${[...keys, ...SETTLED_SUMS].join()} from ${REQUESTS} where ${where} ${numbered && `group by ${numbered}`})`;
  const names = groups.map((group, at) => (group === 'tag' ? `tag as g${at}` : `g${at}`));
  const tags = groups.indexOf('tag');
  const each = tags < 0 ? '' : ` cross join lateral unnest(case when cardinality(g${tags}) > 0 then g${tags} else array[''] end) as tag`;
  return {
    base,
    rows: `select ${[...(period === undefined ? [] : ['period']), ...names, SUMS].join()} from base${each}`,
    total: `select ${SUMS} from base`,
    values: sql.values,
  };
}

interface Relation {
  readonly period: string | undefined;
  readonly groups: readonly UsageDimension[];
  readonly from: string;
  /** Of the group that is a label. */
  readonly column?: string | undefined;
  readonly sums?: string | undefined;
}

function relation({ period, groups, from, column, sums = SUMS }: Relation): string {
  const of = (group: UsageDimension) => (column !== undefined && LABELS.has(group) ? column : COLUMNS[group]);
  const names = groups.map((group, at) => `${of(group)} as g${at}`);
  return `select ${[...(period === undefined ? [] : [`${period} as period`]), ...names, sums].join()} ${from}`;
}

/** SQL of what is asked for, with its values. */
export class Conditions {
  readonly values: unknown[] = [];
  readonly #question: UsageQuestion;

  constructor(question: UsageQuestion) {
    this.#question = question;
  }

  ofDays(): string {
    const { from, to } = this.#question;
    return [...this.#named(), `day >= ${this.#value(from)}::date`, `day <= ${this.#value(to)}::date`].join(' and ');
  }

  /** By the calendar of the time zone; the index finds what is within a day of it. @param at a column with a time */
  inZone(at: string): { period: string | undefined; where: string } {
    const { from, to, timeZone, per } = this.#question;
    const [first, last, zone] = [`${this.#value(from)}::date`, `${this.#value(to)}::date`, `${this.#value(timeZone)}::text`];
    const day = `(${at} at time zone ${zone})::date`;
    const period = per === 'hour' ? `date_trunc('hour', ${at}, ${zone})` : per && day;
    const near = `${at} >= (${first} - 1)::timestamp at time zone 'UTC' and ${at} < (${last} + 2)::timestamp at time zone 'UTC'`;
    return { period, where: [...this.#named(), near, `${day} between ${first} and ${last}`].join(' and ') };
  }

  /** `moved`: what has another day in the time zone than in UTC, once for each, with its `sign`. @param at a column of `usage_quarter_hours` */
  aroundMidnights(at: string): string {
    const { from, to, timeZone, per } = this.#question;
    const [first, last, zone] = [`${this.#value(from)}::date`, `${this.#value(to)}::date`, `${this.#value(timeZone)}::text`];
    const midnights = per
      ? `generate_series(${first}::timestamp, (${last} + 1)::timestamp, interval '1 day')`
      : `unnest(array[${first}, ${last} + 1]::timestamp[])`;
    const [here, inUtc] = [zone, `'UTC'`].map((name) => `midnight at time zone ${name}`);
    const [local, utc] = [zone, `'UTC'`].map((name) => `(${at} at time zone ${name})::date`);
    // Where clocks are set at midnight, there are two of it.
    const near = `${at} >= least(${here}, ${inUtc}) - interval '2 hours' and ${at} < greatest(${here}, ${inUtc}) + interval '2 hours'`;
    return `${midnights} as midnight
      cross join lateral (select * from usage_quarter_hours where ${[...this.#named(), near, `${local} <> ${utc}`].join(' and ')} offset 0) quarters
      cross join lateral (values (${local}, 1), (${utc}, -1)) as moved(day, sign) where moved.day between ${first} and ${last}`;
  }

  #named(): string[] {
    const { accountId, livemode, seen, model, keyId, runId } = this.#question;
    const given = { account_id: accountId, livemode, model, key_id: keyId, run_id: runId };
    const named = Object.entries(given).flatMap(([column, value]) => (value === undefined ? [] : [`${column} = ${this.#value(value)}`]));
    return seen ? [...named, isSeenIn(seen, (value) => this.#value(value))] : named;
  }

  #value(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}
