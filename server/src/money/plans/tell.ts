import { type AuditEntry, actorOf, originOf, recordAudit } from '../../audit/index.ts';
import { upsertContact } from '../../community/people/index.ts';
import type { Call, Principal } from '../../http/index.ts';
import { type Queryable, rowsOf } from '../../kernel/statements.ts';
import type { Unit } from './account-lock.ts';
import { tables } from './tables.ts';

export interface AuditAction {
  readonly action: `${string}.${string}`;
  readonly target: { readonly kind: string; readonly id: string };
  readonly changes?: Readonly<Record<string, unknown>>;
}

const inMode = (unit: Unit, audited: AuditAction): AuditAction =>
  unit.livemode ? audited : { ...audited, changes: { ...audited.changes, livemode: false } };

/** Writes down who did it, in the transaction of what they did. */
export type Trail = (unit: Unit, audited: AuditAction) => Promise<void>;

/** Who asked for something, as it can be kept until it is done. */
export type Author = Pick<AuditEntry, 'actor' | 'origin'>;

export const authorOf = (principal: Principal, call: Pick<Call, 'peer' | 'requestId'>): Author => ({
  actor: actorOf(principal),
  origin: originOf(call),
});

/** @param accountId in whose log it stands: of an administrator, not their own */
export const trailBy =
  (author: Author, accountId: string): Trail =>
  (unit, audited) =>
    recordAudit(unit, { ...inMode(unit, audited), accountId, ...author });

/** The trail of a caller, in the log of their own account. */
export const trailOf = (principal: Principal, call: Pick<Call, 'peer' | 'requestId'>): Trail =>
  trailBy(authorOf(principal, call), principal.accountId);

/** What follows from a payment or from time has no caller. */
export const recordBySystem = (unit: Unit, accountId: string, audited: AuditAction): Promise<void> =>
  recordAudit(unit, { ...inMode(unit, audited), accountId, actor: { kind: 'system', id: null } });

interface Addressed {
  readonly to: string;
  readonly accountId: string;
  readonly dedupeKey: string;
}

/** Their members answer for what the account spends and pays. */
const PAYING_ROLES = ['owner', 'admin', 'billing'] as const;

/**
 * Mails those of an account who answer for its money, in the transaction of what they are told about.
 * @param about names it: nobody is told of one thing twice
 */
export async function mailAccount(
  unit: Unit,
  { accountId, about }: { readonly accountId: string; readonly about: string },
  queue: (db: Queryable, addressed: Addressed) => Promise<void>,
): Promise<void> {
  // Nobody is told of money that is none.
  if (!unit.livemode) return;
  const people = await rowsOf(unit, membersOf(accountId).where('account_role', 'in', PAYING_ROLES));
  for (const { id, email } of people) await queue(unit, { to: email, accountId, dedupeKey: `${about}:${id}` });
}

/** The people of an account are known by the plan they are on. */
export async function upsertAccountContact(unit: Unit, accountId: string, seen: { planTier: string; at: Date }): Promise<void> {
  if (!unit.livemode) return;
  for (const { id, email } of await rowsOf(unit, membersOf(accountId)))
    await upsertContact(unit, { email, source: 'user', userId: id, ...seen });
}

const membersOf = (accountId: string) =>
  tables.selectFrom('users').select(['id', 'email']).where('account_id', '=', accountId).where('closed_at', 'is', null);
