import type { Pool } from 'pg';
import { type Clock, monthEnd, monthOf, monthStart, rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { queueMail } from '../../mail/index.ts';
import type { Exclusively } from './account-lock.ts';
import { mailAccount, type Trail } from './tell.ts';

interface ReachedRow {
  readonly account_id: string;
  readonly threshold: bigint;
  readonly charged: string;
}

interface SpendAlertsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly clock: Clock;
}

/** Tells everybody of an account when its charges of a month reach a threshold, each threshold once a month. */
export function createSpendAlerts({ pool, exclusively, clock }: SpendAlertsDeps) {
  return {
    async read(accountId: string) {
      const settings = await pool.query<{ thresholds_nano: bigint[] }>(
        'select array(select unnest(thresholds_nano)::text) as thresholds_nano from spend_alerts where account_id = $1',
        [accountId],
      );
      const reached = await pool.query<{ period: string; threshold_nano: bigint; charged_nano: string; created_at: Date }>(
        `select period, threshold_nano, charged_nano::text as charged_nano, created_at from spend_alerts_reached where account_id = $1
         order by created_at desc, threshold_nano desc limit 100`,
        [accountId],
      );
      return { thresholds: (settings.rows[0]?.thresholds_nano ?? []).map(BigInt), reached: reached.rows };
    },

    async set(accountId: string, thresholds: readonly bigint[], trail: Trail): Promise<void> {
      const sorted = [...new Set(thresholds)].sort((a, b) => (a < b ? -1 : 1));
      await exclusively(accountId, async (unit) => {
        await unit.query(
          `insert into spend_alerts (account_id, thresholds_nano) values ($1, $2)
           on conflict (account_id) do update set thresholds_nano = excluded.thresholds_nano`,
          [accountId, sorted.map(String)],
        );
        const changes = { thresholds_usd: sorted.map(formatUsd) };
        await trail(unit, { action: 'spend_alerts.changed', target: { kind: 'account', id: accountId }, changes });
      });
    },

    /** Records and mails what was reached since the last time. */
    async run(): Promise<void> {
      const month = monthOf(clock.now());
      await inTransaction(pool, async (client) => {
        const { rows } = await client.query<ReachedRow>(
          `insert into spend_alerts_reached (account_id, period, threshold_nano, charged_nano, created_at)
           select account_id, $1, threshold, charged, $4 from spend_alerts, unnest(thresholds_nano) as threshold,
             lateral (select coalesce(sum(charged_nano), 0) as charged from usage_daily u
                       where u.account_id = spend_alerts.account_id and livemode and day >= $2 and day < $3) as month
           where charged >= threshold and charged > 0
           on conflict do nothing returning account_id, threshold_nano as threshold, charged_nano::text as charged`,
          [month, monthStart(month), monthEnd(month), rfc3339(clock.now())],
        );
        for (const { account_id, threshold, charged } of rows) {
          const data = { threshold_usd: formatUsd(threshold), charged_usd: formatUsd(BigInt(charged)), period: month };
          const about = `spend:${account_id}:${month}:${threshold}`;
          await mailAccount({ query: client.query.bind(client), livemode: true }, { accountId: account_id, about }, (execute, addressed) =>
            queueMail(execute, { ...addressed, template: 'spend-alert', data }),
          );
        }
      });
    },
  };
}
