import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { Identity } from '../../access/identity/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { type MailOutcome, outcomesOfMails, queueMail } from '../../mail/index.ts';
import type { PlanBook } from '../../money/plans/index.ts';
import { recordBouncedAddress, suppressedAmong, upsertContact } from '../people/index.ts';
import type { Given } from './activate.ts';
import type { Invite } from './batches.ts';
import { inviteCodeHash, newInviteCode } from './invite-code.ts';
import { tables } from './tables.ts';

/** The outbox is everybody's: so many of its mails at most are invitations. */
const MOST_QUEUED = 100;

interface SendDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly sealForMail: Identity['sealForMail'];
  readonly unsubscribeFooter: UnsubscribeFooter;
  readonly plans: Pick<PlanBook, 'of'>;
}

/** What each invitation says at its end: it advertises, so that the law asks for both. */
export interface UnsubscribeFooter {
  /** Where its recipient unsubscribes. */
  unsubscribeUrlOf(inviteId: string): Promise<string>;
  /** Postal address of the inviting party, on one line. */
  readonly postalAddress?: string | undefined;
}

const dedupeKey = (inviteId: string): string => `invite:${inviteId}`;

/** SQL: whether an invitation is on its way, or waits for {@link sendDue}. */
export const INVITATIONS_DUE = `exists (select from invites where status = 'queued') or exists (
  select from invites i join invite_batches b using (batch_id)
  where i.status = 'pending' and i.revoked_at is null and b.revoked_at is null and b.expires_at > present)`;

/** Learns what became of the invitations that are on their way, and sends the next ones after them. */
export async function sendDue(deps: SendDeps, signal?: AbortSignal): Promise<void> {
  await learnOutcomes(deps);
  while (!signal?.aborted && (await queueNext(deps)));
}

async function learnOutcomes({ pool, clock }: SendDeps): Promise<void> {
  const rows = await rowsOf(pool, tables.selectFrom('invites').select('invite_id').where('status', '=', 'queued'));
  const keys = rows.map(({ invite_id }) => dedupeKey(invite_id));
  for (const outcome of await outcomesOfMails(pool, keys))
    await inTransaction(pool, (client) => learn(client, outcome, new Date(clock.now())));
}

async function learn(
  client: PoolClient,
  { dedupeKey: key, sentAt, isUnconfirmed, isSuppressed, isRecipientRefused, failure }: MailOutcome,
  at: Date,
): Promise<void> {
  const rows = await rowsOf(
    client,
    tables
      .updateTable('invites')
      .set({ status: statusOf({ sentAt, isUnconfirmed, isSuppressed }), sent_at: sentAt })
      .set({ failure: sentAt === null && !isSuppressed ? failure : null })
      .where('invite_id', '=', key.slice(dedupeKey('').length))
      .where('status', '=', 'queued')
      // It was mailed.
      .returning(sql<string>`lower(email)`.as('address')),
  );
  for (const { address } of isRecipientRefused ? rows : []) await recordBouncedAddress(client, { address, error: failure ?? '', at });
}

function statusOf({
  sentAt,
  isUnconfirmed,
  isSuppressed,
}: Pick<MailOutcome, 'sentAt' | 'isUnconfirmed' | 'isSuppressed'>): Invite['status'] {
  if (sentAt !== null) return 'sent';
  if (isSuppressed) return 'suppressed';
  return isUnconfirmed ? 'unconfirmed' : 'failed';
}

/** One transaction makes the codes, notes that the mails are on their way, and puts them there. @returns whether there may be more to do */
const queueNext = ({ pool, clock, sealForMail, unsubscribeFooter, plans }: SendDeps): Promise<boolean> =>
  inTransaction(pool, async (client) => {
    const now = new Date(clock.now());
    const rows = await rowsOf(
      client,
      tables
        .selectFrom('invites as i')
        .innerJoin('invite_batches as b', 'b.batch_id', 'i.batch_id')
        .select((eb) => ['i.invite_id', eb.ref('i.email').$notNull().as('email'), 'i.name', 'b.plan_id', 'b.trial_days'] as const)
        .select(['b.credit_nano', 'b.subject', 'b.message', 'b.expires_at'])
        .where('i.status', '=', 'pending')
        .where('i.revoked_at', 'is', null)
        .where('b.revoked_at', 'is', null)
        .where('b.expires_at', '>', now)
        .orderBy('i.invite_id')
        .limit(sql<bigint>`greatest(0, ${MOST_QUEUED} - (select count(*) from invites where status = 'queued'))`)
        .forUpdate('i')
        .skipLocked(),
    );
    const suppressed = await suppressedAmong(
      client,
      rows.map(({ email }) => email),
    );
    for (const invite of rows) {
      const { invite_id, email, name } = invite;
      if (suppressed.has(email.toLowerCase())) {
        await client.query("update invites set status = 'suppressed' where invite_id = $1", [invite_id]);
        continue;
      }
      const code = newInviteCode();
      await client.query("update invites set status = 'queued', code_hash = $2 where invite_id = $1", [invite_id, inviteCodeHash(code)]);
      await queueMail(client, {
        ...{ to: email, template: 'beta-invite', dedupeKey: dedupeKey(invite_id), isSentOnce: true },
        data: {
          ...{ sealed_code: sealForMail(code), email, name, subject: invite.subject, message: invite.message, ...giftOf(invite, plans) },
          unsubscribe_url: await unsubscribeFooter.unsubscribeUrlOf(invite_id),
          ...(unsubscribeFooter.postalAddress !== undefined && { postal_address: unsubscribeFooter.postalAddress }),
        },
      });
      await upsertContact(client, { email, name, source: 'invite', at: now });
    }
    // Suppressed ones leave room for others.
    return suppressed.size > 0;
  });

const giftOf = ({ plan_id, trial_days, credit_nano, expires_at }: Given & { readonly expires_at: Date }, plans: SendDeps['plans']) => ({
  plan: plan_id === null ? null : plans.of(plan_id).name,
  trial_days,
  credit_usd: credit_nano === 0n ? null : formatUsd(credit_nano),
  expires_at: rfc3339(expires_at),
});
