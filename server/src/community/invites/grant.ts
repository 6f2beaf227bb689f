import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Identity } from '../../access/identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { rowsOf } from '../../kernel/statements.ts';
import type { AccountPlans } from '../../money/plans/index.ts';
import { planUntil } from './activate.ts';
import { tables } from './tables.ts';

const AT_ONCE = 100;

interface GrantDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly claimable: Identity['claimable'];
  readonly plans: Pick<AccountPlans, 'gifts' | 'book'>;
}

const UNGRANTED = 'a.granted_at is null and a.erased_at is null and not awaits_proof(a.email, a.activated_at)';

/** SQL: whether an activation waits for {@link grantDue}. */
export const GRANTS_DUE = `exists (select from invite_activations a where ${UNGRANTED})`;

/**
 * Gives what was activated: finds the account of each address, or makes one to be claimed, and notes with the gift that it was given. What
 * is meant for an address waits while an account has it whose maker never proved that they read it. Run twice, or by two at once, it gives once.
 */
export async function grantDue({ pool, clock, claimable, plans }: GrantDeps, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const rows = await rowsOf(
      pool,
      tables
        .selectFrom('invite_activations as a')
        .innerJoin('invites as i', 'i.invite_id', 'a.invite_id')
        .innerJoin('invite_batches as b', 'b.batch_id', 'i.batch_id')
        .selectAll('a')
        .select(['b.plan_id', 'b.trial_days', 'b.credit_nano'])
        .where(sql<SqlBool>`${sql.raw(UNGRANTED)}`)
        .orderBy('a.activated_at')
        .orderBy('a.activation_id')
        .limit(AT_ONCE),
    );
    for (const due of rows) {
      if (signal?.aborted) return;
      const user = await claimable.findOrMake({ email: due.email, name: due.name });
      if (!user) continue;
      const { account } = user;
      const endsAt = planUntil(due, due);
      const trial = due.plan_id !== null && endsAt !== null && { plan: plans.book.of(due.plan_id), endsAt };
      await plans.gifts.give(account.id, { cause: due.activation_id, credit: due.credit_nano, ...(trial && { trial }) }, async (unit) => {
        const { rowCount } = await unit.query(
          'update invite_activations set account_id = $2, granted_at = $3 where activation_id = $1 and granted_at is null',
          [due.activation_id, account.id, new Date(clock.now())],
        );
        return rowCount === 1;
      });
    }
    if (rows.length < AT_ONCE) return;
  }
}
