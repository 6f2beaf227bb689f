import { type AuditEntry, actorOf, originOf, recordAudit } from '../../audit/index.ts';
import type { Call, Principal } from '../../http/index.ts';
import type { Queryable } from '../../kernel/statements.ts';

type AuditAction = Pick<AuditEntry, 'action' | 'target' | 'changes'>;

/** Writes down who did it, in the transaction of what they did. */
export type Trail = (db: Queryable, audited: AuditAction) => Promise<void>;

/** Recorded in the audit log of the caller's own account. */
export const trailOf =
  (principal: Principal, call: Pick<Call, 'peer' | 'requestId'>): Trail =>
  (db, audited) =>
    recordAudit(db, {
      ...audited,
      accountId: principal.accountId,
      actor: actorOf(principal),
      origin: originOf(call),
    });
