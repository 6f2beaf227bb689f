import { Account } from './account.ts';
import { Session } from './session.ts';
import { User } from './user.ts';

export type { PlanOfAccount } from './account.ts';
export { type Actor, type AuditEntry, actorOf, type Origin, originOf, recordAudit } from './audit/record-audit.ts';
export { auditRoutes } from './audit/routes.ts';
export { closeUnclaimed } from './close-unclaimed.ts';
export { type ContentKeys, createContentKeys, deleteContentKey } from './content-keys.ts';
export { deviceLoginRoutes } from './devices/routes.ts';
export { type Execute, inUnit } from './execute.ts';
export type { Call, Handlers } from './handlers.ts';
export { createIdentity, type Identity } from './identity.ts';
export { LOGIN_FAILURES_DUE } from './login-failures.ts';
export { createDesk } from './mails/desk.ts';
export { type MailOutcome, outcomesOfMails } from './mails/mail-outcomes.ts';
export { createOutbox, MAILS_DUE, type Outbox } from './mails/outbox.ts';
export { queueMail, queueMails } from './mails/queue-mail.ts';
export { resetByOperator } from './mfa/reset.ts';
export { accountRecords } from './person-records.ts';
export type { KeyPrincipal, Principal, SessionGrant, SessionPrincipal } from './principal.ts';
export type { OnAccountClosed } from './profile.ts';
export { MAIL_REQUESTS_DUE } from './recovery/answer-requests.ts';
export { MasterKeyMissing, resealSecrets } from './reseal.ts';
export { setRoleByOperator } from './roles.ts';
export { accountRoutes, identityRoutes, mfaRoutes, userRoutes } from './routes.ts';
export { createSecretBox, type MasterKey } from './secret-box.ts';
export { requireLiveSession, type Sessions } from './sessions.ts';
export { createStoring, type Storing } from './storing.ts';
export { formLimits, networkOf } from './throttle/limits.ts';
export type { Owner, Users } from './users.ts';

/** For the ORM's list of entities. */
export const identityEntities = [Account, User, Session];
