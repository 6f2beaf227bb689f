import type { BetaInviteActivateRequest } from '@tallygate/contract';
import type { Pool } from 'pg';
import { formLimits, type Identity } from '../../access/identity/index.ts';
import type { Origin } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { upsertContact } from '../people/index.ts';
import type { Batch } from './batches.ts';
import { inviteCodeHash } from './invite-code.ts';

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

interface Redeemable extends Given {
  readonly invite_id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly max_uses: number;
  readonly uses: number;
  readonly is_open: boolean;
}

interface ActivateDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly throttle: Identity['throttle'];
}

/**
 * Uses a code. The invitation is locked meanwhile, so that a hundred uses are a hundred. Whose account gets what it gives is found out by a
 * job: the answer, and the time it takes, are the same for an address with an account and for one without.
 * @throws Problem `invalid_invite` for whatever code does not work, `rate_limited`
 */
export const createActivate =
  ({ pool, clock, throttle }: ActivateDeps) =>
  async ({ code, email, name }: BetaInviteActivateRequest, { ip }: Origin): Promise<{ activation: Activation; given: Given }> => {
    const admitted = await throttle.admit(formLimits({ ...GUESSING, subject: email.toLowerCase(), address: ip }));
    const now = new Date(clock.now());
    const activated = await inTransaction(pool, async (client) => {
      const { rows } = await client.query<Redeemable>(
        `select i.invite_id, i.email, i.name, i.max_uses, i.uses, b.plan_id, b.trial_days, b.credit_nano,
           i.revoked_at is null and b.revoked_at is null and b.expires_at > $2 as is_open
         from invites i join invite_batches b using (batch_id) where i.code_hash = $1 for update of i`,
        [inviteCodeHash(code), now],
      );
      const [invite] = rows;
      if (!invite || (invite.email !== null && invite.email.toLowerCase() !== email.toLowerCase())) throw invalid();
      const known = await client.query<Activation>('select * from invite_activations where invite_id = $1 and lower(email) = lower($2)', [
        ...[invite.invite_id, email],
      ]);
      if (known.rows[0]) return { activation: known.rows[0], given: invite };
      if (!invite.is_open || invite.uses >= invite.max_uses) throw invalid();
      const activation = { activation_id: newId(), email, activated_at: now };
      const called = name ?? invite.name;
      await client.query('update invites set uses = uses + 1 where invite_id = $1', [invite.invite_id]);
      await client.query(
        'insert into invite_activations (activation_id, invite_id, email, name, activated_at) values ($1, $2, $3, $4, $5)',
        [activation.activation_id, invite.invite_id, email, called, now],
      );
      await upsertContact((sql, values) => client.query(sql, values), { email, name: called, source: 'invite', at: now });
      return { activation, given: invite };
    });
    await admitted.succeeded();
    return activated;
  };

const invalid = (): Problem =>
  new Problem('invalid_invite', 'This code does not work with this address: compare both with the invitation, or ask for another one.');
