import { type AuditEntry, actorOf, originOf, recordAudit } from '../../audit/index.ts';
import { upsertContact } from '../../community/people/index.ts';
import type { Call, Principal } from '../../http/index.ts';
import type { Execute } from '../../kernel/execute.ts';
import type { Unit } from './account-lock.ts';

const executing =
  (unit: Unit): Execute =>
  (sql, values) =>
    unit.query(sql, values);

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
    recordAudit(executing(unit), { ...inMode(unit, audited), accountId, ...author });

/** The trail of a caller, in the log of their own account. */
export const trailOf = (principal: Principal, call: Pick<Call, 'peer' | 'requestId'>): Trail =>
  trailBy(authorOf(principal, call), principal.accountId);

/** What follows from a payment or from time has no caller. */
export const recordBySystem = (unit: Unit, accountId: string, audited: AuditAction): Promise<void> =>
  recordAudit(executing(unit), { ...inMode(unit, audited), accountId, actor: { kind: 'system', id: null } });

interface Addressed {
  readonly to: string;
  readonly accountId: string;
  readonly dedupeKey: string;
}

/**
 * Mails everybody of an account, in the transaction of what they are told about.
 * @param about names it: nobody is told of one thing twice
 */
export async function mailAccount(
  unit: Unit,
  { accountId, about }: { readonly accountId: string; readonly about: string },
  queue: (execute: Execute, addressed: Addressed) => Promise<void>,
): Promise<void> {
  // Nobody is told of money that is none.
  if (!unit.livemode) return;
  for (const { id, email } of await usersOf(unit, accountId))
    await queue(executing(unit), { to: email, accountId, dedupeKey: `${about}:${id}` });
}

/** The people of an account are known by the plan they are on. */
export async function upsertAccountContact(unit: Unit, accountId: string, seen: { planTier: string; at: Date }): Promise<void> {
  if (!unit.livemode) return;
  for (const { id, email } of await usersOf(unit, accountId))
    await upsertContact(executing(unit), { email, source: 'user', userId: id, ...seen });
}

async function usersOf(unit: Unit, accountId: string): Promise<{ id: string; email: string }[]> {
  const { rows } = await unit.query<{ id: string; email: string }>(
    'select id, email from users where account_id = $1 and closed_at is null',
    [accountId],
  );
  return rows;
}
