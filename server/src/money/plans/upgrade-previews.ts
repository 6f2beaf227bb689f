import type { Pool } from 'pg';
import type { ChangePreview, PaymentProvider } from '../../adapters/payment/port.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Unit } from './account-lock.ts';
import type { SubscriptionRow } from './subscription-row.ts';
import type { Plan } from './tiers.ts';

/** How long a customer may think about an amount that was previewed. */
const GOOD_MS = 10 * 60_000;

interface PreviewsDeps {
  readonly pool: Pool;
  readonly provider: Pick<PaymentProvider, 'previewChange'>;
  readonly clock: Clock;
}

/**
 * What an upgrade costs falls with every second of the period, so whoever named the moment would name the price. A charge is reckoned for
 * another moment than its own only where this gateway has previewed that moment, for this plan and from the present one, minutes ago.
 */
export function createUpgradePreviews({ pool, provider, clock }: PreviewsDeps) {
  return {
    /** @throws Problem `conflict` while a payment is late: the upgrade would be refused as well */
    async make(row: SubscriptionRow & { readonly subscription_id: string }, plan: Plan): Promise<ChangePreview> {
      requirePunctual(row);
      const change = { subscriptionId: row.subscription_id, plan: { planId: plan.id, version: plan.version } };
      const preview = await provider.previewChange(change);
      await pool.query('delete from upgrade_previews where account_id = $1 and created_at < $2', [
        row.account_id,
        rfc3339(clock.now() - GOOD_MS),
      ]);
      await pool.query(
        `insert into upgrade_previews (account_id, plan_id, prorated_at, change_version, created_at) values ($1, $2, $3, $4, $5)
         on conflict (account_id, plan_id, prorated_at) do update set change_version = excluded.change_version, created_at = excluded.created_at`,
        [row.account_id, plan.id, rfc3339(preview.proratedAtMs), row.change_version, rfc3339(clock.now())],
      );
      return preview;
    },

    /** @throws Problem `validation_failed` for a moment that was not previewed, or not lately; `conflict` for one of a period that is over */
    async require(unit: Unit, row: SubscriptionRow, plan: Plan, proratedAtMs: number): Promise<void> {
      const { rowCount } = await unit.query(
        `select from upgrade_previews where account_id = $1 and plan_id = $2 and prorated_at = $3 and change_version = $4 and created_at >= $5`,
        [row.account_id, plan.id, rfc3339(proratedAtMs), row.change_version, rfc3339(clock.now() - GOOD_MS)],
      );
      if (rowCount === 0) {
        const msg = 'must be `effective_at` of an upgrade preview of this plan, at most ten minutes old: preview the upgrade again';
        throw new Problem('validation_failed', `prorated_at ${msg}.`, { errors: [{ loc: ['body', 'prorated_at'], msg, type: 'preview' }] });
      }
      if (row.period_start !== null && proratedAtMs < row.period_start.getTime())
        throw new Problem('conflict', 'The plan was renewed since the preview: preview the upgrade again.');
    },
  };
}

export type UpgradePreviews = ReturnType<typeof createUpgradePreviews>;

/** @throws Problem `conflict` while a payment of the present plan is late */
export function requirePunctual({ status }: SubscriptionRow): void {
  if (status === 'active' || status === 'trialing') return;
  throw new Problem('conflict', 'A payment of the present plan is late: settle it in the customer portal (POST /v1/plans/portal) first.');
}
