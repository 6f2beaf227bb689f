import { sql } from 'kysely';
import type { Pool } from 'pg';
import * as z from 'zod';
import { type Clock, monthEnd, monthOf, monthStart, rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { checkedRows, firstOf, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { queueMail } from '../../mail/index.ts';
import { recordEvent } from '../../webhooks/index.ts';
import type { Exclusively } from './account-lock.ts';
import { tables } from './tables.ts';
import { mailAccount, type Trail } from './tell.ts';

const ReachedRow = z.object({ account_id: z.string(), threshold: z.bigint(), charged: z.string() });
/** As text: the driver reads no list of bigints. */
const THRESHOLDS = sql<string[]>`array(select unnest(thresholds_nano)::text)`.as('thresholds');

interface SpendAlertsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly clock: Clock;
}

/** Tells those who answer for an account’s money when its charges of a month reach a threshold, each threshold once a month. */
export function createSpendAlerts({ pool, exclusively, clock }: SpendAlertsDeps) {
  return {
    async read(accountId: string) {
      const settings = await firstOf(pool, tables.selectFrom('spend_alerts').select(THRESHOLDS).where('account_id', '=', accountId));
      const reached = await rowsOf(
        pool,
        tables
          .selectFrom('spend_alerts_reached')
          .select(['period', 'threshold_nano', 'charged_nano', 'created_at'])
          .where('account_id', '=', accountId)
          .orderBy('created_at', 'desc')
          .orderBy('threshold_nano', 'desc')
          .limit(100),
      );
      return { thresholds: (settings?.thresholds ?? []).map(BigInt), reached };
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
        const rows = await checkedRows(
          client,
          ReachedRow,
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
          await recordEvent(client, { accountId: account_id, type: 'spend.threshold_reached', data });
          const about = `spend:${account_id}:${month}:${threshold}`;
          await mailAccount({ query: client.query.bind(client), livemode: true }, { accountId: account_id, about }, (db, addressed) =>
            queueMail(db, { ...addressed, template: 'spend-alert', data }),
          );
        }
      });
    },
  };
}
