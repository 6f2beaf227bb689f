export { type AuditLog, createAuditLog } from './audit-log.ts';
export { forgetEntries } from './forget-entries.ts';
export { makeAuditMonths } from './months.ts';
export { type Actor, type AuditEntry, actorOf, type Origin, originOf, recordAudit, recordAudits } from './record-audit.ts';
export { auditRoutes } from './routes.ts';
