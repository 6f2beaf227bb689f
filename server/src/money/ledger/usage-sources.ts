import type { UsageDimension } from '@tallygate/contract';
import { isSeenIn, type Seen } from '../../http/index.ts';
import { USAGE_SUMS } from './rollup-columns.ts';

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

/** Where the answer to a question is, in SQL. Relations have the columns `period` (where it is per day), `g0`, `g1` and the sums. */
export interface UsageSource {
  readonly rows: string;
  /** The sums alone. */
  readonly total: string;
  readonly values: unknown[];
}

/** The columns of the groups. Where a row has none, it is {@link NO_ID}. */
const COLUMNS = {
  ...{ account: 'account_id', project: 'project_id', member: 'user_id', key: 'key_id', model: 'model' },
  ...{ provider: 'provider', outcome: 'outcome' },
} as const satisfies Partial<Record<UsageDimension, string>>;
type DayGroup = keyof typeof COLUMNS;
/** What `usage_daily` has, which is smaller than `usage_details_daily`. */
const OF_DAYS: ReadonlySet<UsageDimension> = new Set(['account', 'key', 'model']);
const UTC: ReadonlySet<string> = new Set(['UTC', 'Etc/UTC', 'GMT', 'Etc/GMT']);

const SUMS = USAGE_SUMS.join();

const isDayGroup = (group: UsageDimension): group is DayGroup => group in COLUMNS;

/** The sums by day have days of UTC, and no runs, end users or tags. All else is in the segments. */
export function sourceInDays(question: UsageQuestion): UsageSource | undefined {
  const { per, groups, runId, timeZone, seen } = question;
  const columns = groups.filter(isDayGroup).map((group) => COLUMNS[group]);
  if (per === 'hour' || runId !== undefined || !UTC.has(timeZone) || columns.length < groups.length) return undefined;
  const table = !seen && groups.every((group) => OF_DAYS.has(group)) ? 'usage_daily' : 'usage_details_daily';
  const sql = new Conditions(question);
  const where = sql.ofDays();
  const names = [...(per === undefined ? [] : ['day as period']), ...columns.map((column, at) => `${column} as g${at}`)];
  return {
    rows: `select ${[...names, SUMS].join()} from ${table} where ${where}`,
    total: `select ${SUMS} from ${seen ? table : 'usage_daily'} where ${where}`,
    values: sql.values,
  };
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
