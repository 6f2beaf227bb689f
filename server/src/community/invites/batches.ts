import type { MarketingInviteBatchRequest, PeopleFilter } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../kernel/money.ts';
import { Keyset, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, type Queryable, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { PlanBook } from '../../money/plans/index.ts';
import { inviteCodeHash, newInviteCode } from './invite-code.ts';
import { tables } from './tables.ts';

const MOST_CREDIT: NanoUsd = 10_000n * 1_000_000_000n;

/** A row of `invite_batches`, with how far it is. */
export interface Batch {
  readonly batch_id: string;
  readonly name: string;
  readonly plan_id: string | null;
  readonly trial_days: number | null;
  readonly credit_nano: bigint;
  readonly shared_uses: number | null;
  readonly filter: PeopleFilter | null;
  /** When everybody who fits the filter had been looked up. */
  readonly looked_up_at: Date | null;
  readonly subject: string | null;
  readonly message: string | null;
  readonly expires_at: Date;
  readonly created_by: string;
  readonly created_at: Date;
  readonly revoked_at: Date | null;
  readonly total: number;
  readonly pending: number;
  readonly queued: number;
  readonly sent: number;
  readonly unconfirmed: number;
  readonly failed: number;
  readonly suppressed: number;
  readonly activations: number;
}

/** A row of `invites`. */
export interface Invite {
  readonly invite_id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly status: 'pending' | 'queued' | 'sent' | 'unconfirmed' | 'failed' | 'suppressed' | 'shared';
  readonly max_uses: number;
  readonly uses: number;
  readonly failure: string | null;
  readonly sent_at: Date | null;
  readonly revoked_at: Date | null;
}

/** Who asks for a change, and from where. */
interface Administrator {
  readonly principal: Principal;
  readonly origin: Origin;
}

const countOf = (status: Invite['status']) => sql<number>`count(*) filter (where i.status = ${sql.lit(status)})::int`;
const BATCHES = tables
  .selectFrom('invite_batches as b')
  .crossJoinLateral((eb) =>
    eb
      .selectFrom('invites as i')
      .whereRef('i.batch_id', '=', 'b.batch_id')
      .select(sql<number>`count(*)::int`.as('total'))
      .select([countOf('pending').as('pending'), countOf('queued').as('queued'), countOf('sent').as('sent')])
      .select([countOf('unconfirmed').as('unconfirmed'), countOf('failed').as('failed'), countOf('suppressed').as('suppressed')])
      .select(sql<number>`coalesce(sum(i.uses), 0)::int`.as('activations'))
      .as('c'),
  )
  .selectAll('b')
  .selectAll('c');
const BY_BATCH = new Keyset({ name: 'invite_batches', columns: { 'b.batch_id': 'uuid' }, direction: 'desc' });
const BY_INVITE = new Keyset({ name: 'invites', columns: { invite_id: 'uuid' }, direction: 'asc' });

interface BatchesDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly plans: Pick<PlanBook, 'isForSale' | 'offered'>;
}

/** What administrators do with invitations. */
export function createBatches({ pool, clock, plans }: BatchesDeps) {
  const one = async (batchId: string): Promise<Batch> => {
    return (await firstOf(pool, BATCHES.where('b.batch_id', '=', batchId))) ?? noBatch();
  };

  return {
    get: one,

    /** @returns with the plain code of one that is given away. @throws Problem `validation_failed` for what makes no sense */
    async create(by: Administrator, input: MarketingInviteBatchRequest): Promise<{ batch: Batch; code?: string }> {
      const now = new Date(clock.now());
      const credit = sensibleCredit(input, { now, plans });
      const [batchId, code] = [newId(), input.shared_uses === undefined ? undefined : newInviteCode()];
      await inTransaction(pool, async (client) => {
        await writeBatch(client, input, { batchId, code, credit, createdBy: by.principal.userId, now });
        await audit(client, by, {
          action: 'invite_batch.created',
          target: { kind: 'invite_batch', id: batchId },
          changes: {
            name: input.name,
            plan_id: input.plan_id ?? null,
            credit_usd: formatUsd(credit),
            expires_at: input.expires_at,
            filter: input.filter ?? null,
          },
        });
      });
      return { batch: await one(batchId), ...(code !== undefined && { code }) };
    },

    /** The newest first. */
    async list(query: PageQuery): Promise<Page<Batch>> {
      return BY_BATCH.page(await rowsOf(pool, BY_BATCH.pageIn(BATCHES, query)), query);
    },

    /** In the order in which they are mailed. @throws Problem `not_found` */
    async invites(batchId: string, query: PageQuery): Promise<Page<Invite>> {
      await one(batchId);
      const invites = tables.selectFrom('invites').selectAll().where('batch_id', '=', batchId);
      return BY_INVITE.page(await rowsOf(pool, BY_INVITE.pageIn(invites, query)), query);
    },

    /** Activations stay. Idempotent. @throws Problem `not_found` */
    async revoke(by: Administrator, batchId: string): Promise<Batch> {
      await inTransaction(pool, async (client) => {
        const { rowCount } = await client.query('update invite_batches set revoked_at = $2 where batch_id = $1 and revoked_at is null', [
          ...[batchId, new Date(clock.now())],
        ]);
        if (rowCount === 1) await audit(client, by, { action: 'invite_batch.revoked', target: { kind: 'invite_batch', id: batchId } });
      });
      return one(batchId);
    },

    /** The same for one invitation. @throws Problem `not_found`, also for one of another batch */
    revokeInvite: (by: Administrator, batchId: string, inviteId: string): Promise<Invite> =>
      inTransaction(pool, (client) => revokeInvite(client, by, { batchId, inviteId, now: new Date(clock.now()) })),
  };
}

interface NewBatch {
  readonly batchId: string;
  /** Of a shared code. */
  readonly code: string | undefined;
  readonly credit: NanoUsd;
  readonly createdBy: Principal['userId'];
  readonly now: Date;
}

async function writeBatch(
  db: Queryable,
  input: MarketingInviteBatchRequest,
  { batchId, code, credit, createdBy, now }: NewBatch,
): Promise<void> {
  await db.query(
    `insert into invite_batches (batch_id, name, plan_id, trial_days, credit_nano, shared_uses, subject, message, expires_at, created_by, created_at,
       filter)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[batchId, input.name, input.plan_id ?? null, input.trial_days ?? null, credit.toString(), input.shared_uses ?? null],
      ...[input.subject ?? null, input.message ?? null, input.expires_at, createdBy, now],
      input.filter === undefined ? null : JSON.stringify(input.filter),
    ],
  );
  if (code !== undefined)
    await db.query("insert into invites (invite_id, batch_id, code_hash, status, max_uses) values ($1, $2, $3, 'shared', $4)", [
      ...[newId(), batchId, inviteCodeHash(code), input.shared_uses],
    ]);
  // An address that is listed twice is invited once.
  await db.query(
    `insert into invites (invite_id, batch_id, email, name, status, max_uses)
     select invite_id, $1, email, name, 'pending', 1 from jsonb_to_recordset($2) as r (invite_id uuid, email text, name text)
     on conflict (batch_id, lower(email)) where email is not null do nothing`,
    [batchId, JSON.stringify((input.recipients ?? []).map((recipient) => ({ invite_id: newId(), ...recipient })))],
  );
}

interface WhichInvite {
  readonly batchId: string;
  readonly inviteId: string;
  readonly now: Date;
}

/** @throws Problem `not_found` */
async function revokeInvite(client: PoolClient, by: Administrator, { batchId, inviteId, now }: WhichInvite): Promise<Invite> {
  const found = tables.selectFrom('invites').selectAll().where('batch_id', '=', batchId).where('invite_id', '=', inviteId);
  const invite = await firstOf(client, found.forUpdate());
  if (!invite) throw new Problem('not_found', 'There is no such invitation in this batch.');
  if (invite.revoked_at) return invite;
  const revoked = { ...invite, revoked_at: now };
  await client.query('update invites set revoked_at = $2 where invite_id = $1', [inviteId, revoked.revoked_at]);
  await audit(client, by, { action: 'invite.revoked', target: { kind: 'invite', id: inviteId } });
  return revoked;
}

const audit = (
  db: Queryable,
  { principal, origin }: Administrator,
  deed: Pick<Parameters<typeof recordAudit>[1], 'action' | 'target' | 'changes'>,
): Promise<void> => recordAudit(db, { ...deed, accountId: principal.accountId, actor: actorOf(principal), origin });

/** @throws Problem `validation_failed` for what makes no sense together */
function sensibleCredit(
  { recipients, filter, shared_uses, plan_id, trial_days, credit_usd, expires_at }: MarketingInviteBatchRequest,
  { now, plans }: { readonly now: Date; readonly plans: BatchesDeps['plans'] },
): NanoUsd {
  const refuse = (field: string, msg: string) => invalidInput([{ loc: ['body', field], msg, type: 'senseless' }]);
  if ([recipients, filter, shared_uses].filter((given) => given !== undefined).length !== 1)
    throw refuse('recipients', 'or filter or shared_uses must be given, and only one of them');
  if ((plan_id === undefined) !== (trial_days === undefined)) throw refuse('trial_days', 'and plan_id come together');
  if (plan_id !== undefined && !plans.isForSale(plan_id))
    throw refuse(
      'plan_id',
      `must be one of ${plans.offered
        .map(({ id }) => id)
        .filter(plans.isForSale)
        .join(', ')}`,
    );
  if (expires_at <= rfc3339(now)) throw refuse('expires_at', 'must be in the future');
  const credit = credit_usd === undefined ? 0n : (parseUsd(credit_usd) ?? 0n);
  if (credit > MOST_CREDIT) throw refuse('credit_usd', `must be at most ${formatUsd(MOST_CREDIT)}`);
  return credit;
}

const noBatch = (): never => {
  throw new Problem('not_found', 'There is no such batch of invitations.');
};
