import { type AuditEntry, actorOf, type Call, originOf, type Principal, recordAudit } from '../identity/index.ts';
import type { Sql } from './event-rows.ts';

type Deed = Pick<AuditEntry, 'action' | 'target' | 'changes'>;

/** Writes down who did it, in the transaction of what they did. */
export type Trail = (sql: Sql, deed: Deed) => Promise<void>;

/** Stands in the log of the caller's own account. */
export const trailOf =
  (principal: Principal, call: Pick<Call, 'peer' | 'requestId'>): Trail =>
  (sql, deed) =>
    recordAudit((text, values) => sql.query(text, values), {
      ...deed,
      accountId: principal.accountId,
      actor: actorOf(principal),
      origin: originOf(call),
    });
