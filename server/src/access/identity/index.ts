import { Account, type AccountSchema } from './account.ts';
import { Session } from './session.ts';
import { User, type UserSchema } from './user.ts';

export type { DedicatedCapacity, PlanOfAccount } from './account.ts';
export { closeUnclaimed } from './close-unclaimed.ts';
export { deviceLoginRoutes } from './devices/routes.ts';
export { createIdentity, type Identity } from './identity.ts';
export { LOGIN_FAILURES_DUE } from './login-failures.ts';
export { lockMembers } from './members/authority.ts';
export type { OnMemberRemoved } from './members/end-membership.ts';
export { provisionMember } from './members/provision.ts';
export { memberRoutes } from './members/routes.ts';
export { resetByOperator } from './mfa/reset.ts';
export { SEALED_SECOND_FACTORS } from './mfa/second-factor.ts';
export type { OnAccountClosed, OnStoringOff } from './on-account-closed.ts';
export { isWithin, relyingPartyOf } from './passkeys/relying-party.ts';
export { passkeyRoutes } from './passkeys/routes.ts';
export { accountRecords } from './person-records.ts';
export { MAIL_REQUESTS_DUE } from './recovery/answer-requests.ts';
export { setRoleByOperator } from './roles.ts';
export { accountRoutes, identityRoutes, mfaRoutes, userRoutes } from './routes.ts';
export { requireLiveSession, type Sessions } from './sessions.ts';
export type { RoleRules } from './sso/directory-members.ts';
export { ssoRoutes } from './sso/routes.ts';
export { type SignedInMember, SignIns } from './sso/sign-ins.ts';
export { formLimits, networkOf } from './throttle/limits.ts';
export { type Owner, type Roles, rolesOf, type Users } from './users.ts';

/** For statements that join them. */
export type AccountTable = typeof AccountSchema;
export type UserTable = typeof UserSchema;

/** For the ORM's list of entities. */
export const identityEntities = [Account, User, Session];
