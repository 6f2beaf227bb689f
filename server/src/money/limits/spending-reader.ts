import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import { type Limit, SpendingRules } from './spending-rules.ts';
import { tables } from './tables.ts';

/** The limits of an account as they are now; undefined where it has none. */
export type SpendingReader = (accountId: string) => Promise<SpendingRules | undefined>;

export const createSpendingReader =
  (pool: Queryable): SpendingReader =>
  async (accountId) => {
    const rows = await rowsOf(
      pool,
      tables
        .selectFrom('limits as l')
        .innerJoin('accounts as a', 'a.id', 'l.account_id')
        .select(['l.kind', 'l.subject', 'l.period', 'l.cap_nano', 'l.requests_per_minute', 'l.tokens_per_minute', 'a.time_zone'])
        .where('l.account_id', '=', accountId)
        .orderBy('l.id'),
    );
    const [first] = rows;
    if (!first) return undefined;
    const limits = rows.map(
      ({ kind, subject, period, cap_nano, requests_per_minute, tokens_per_minute }): Limit => ({
        ...{ kind, subject, period, cap: cap_nano },
        ...{ requestsPerMinute: requests_per_minute, tokensPerMinute: tokens_per_minute },
      }),
    );
    return new SpendingRules(first.time_zone, limits);
  };
