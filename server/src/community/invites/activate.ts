import type { BetaInviteActivateRequest } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { formLimits, type Identity } from '../../access/identity/index.ts';
import type { Origin } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { upsertContact } from '../people/index.ts';
import type { Batch } from './batches.ts';
import { inviteCodeHash } from './invite-code.ts';
import { tables } from './tables.ts';

/** A right code gives its attempt back. */
const GUESSING = { kind: 'invite-code', freePerSubject: 5, freePerAddress: 30 };

const DAY_MS = 86_400_000;

export interface Activation {
  readonly activation_id: string;
  readonly email: string;
  readonly activated_at: Date;
}

/** What an activation gives. */
export type Given = Pick<Batch, 'plan_id' | 'trial_days' | 'credit_nano'>;

/** Until when the plan is given that an activation gives. */
export const planUntil = ({ trial_days }: Given, { activated_at }: Activation): Date | null =>
  trial_days === null ? null : new Date(activated_at.getTime() + trial_days * DAY_MS);

interface ActivateDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly throttle: Identity['throttle'];
}

/**
 * Uses a code. The invitation is locked meanwhile, so that a hundred uses are a hundred. Whose account gets what it gives is found out by a
 * job: the answer, and the time it takes, are the same for an address with an account and for one without.
 * @throws Problem `invalid_invite` for every code that does not work, `rate_limited`
 */
export const createActivate =
  ({ pool, clock, throttle }: ActivateDeps) =>
  async ({ code, email, name }: BetaInviteActivateRequest, { ip }: Origin): Promise<{ activation: Activation; given: Given }> => {
    const admitted = await throttle.admit(formLimits({ ...GUESSING, subject: email.toLowerCase(), address: ip }));
    const now = new Date(clock.now());
    const activated = await inTransaction(pool, async (client) => {
      const invite = await firstOf(
        client,
        tables
          .selectFrom('invites as i')
          .innerJoin('invite_batches as b', 'b.batch_id', 'i.batch_id')
          .select(['i.invite_id', 'i.email', 'i.name', 'i.max_uses', 'i.uses', 'b.plan_id', 'b.trial_days', 'b.credit_nano'])
          .select(sql<boolean>`i.revoked_at is null and b.revoked_at is null and b.expires_at > ${now}`.as('is_open'))
          .where('i.code_hash', '=', inviteCodeHash(code))
          .forUpdate('i'),
      );
      if (!invite || (invite.email !== null && invite.email.toLowerCase() !== email.toLowerCase())) throw invalid();
      const known = await firstOf(
        client,
        tables
          .selectFrom('invite_activations')
          .selectAll()
          .where('invite_id', '=', invite.invite_id)
          .where(sql`lower(email)`, '=', sql`lower(${email})`),
      );
      if (known) return { activation: known, given: invite };
      if (!invite.is_open || invite.uses >= invite.max_uses) throw invalid();
      const activation = { activation_id: newId(), email, activated_at: now };
      const called = name ?? invite.name;
      await client.query('update invites set uses = uses + 1 where invite_id = $1', [invite.invite_id]);
      await client.query(
        'insert into invite_activations (activation_id, invite_id, email, name, activated_at) values ($1, $2, $3, $4, $5)',
        [activation.activation_id, invite.invite_id, email, called, now],
      );
      await upsertContact(client, { email, name: called, source: 'invite', at: now });
      return { activation, given: invite };
    });
    await admitted.succeeded();
    return activated;
  };

const invalid = (): Problem =>
  new Problem('invalid_invite', 'This code does not work with this address: compare both with the invitation, or ask for another one.');
