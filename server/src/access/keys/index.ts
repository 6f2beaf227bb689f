import { ApiKey } from './api-key.ts';

export type { ApiKey } from './api-key.ts';
export { CachedKeyDirectory } from './cached-key-directory.ts';
export { withConstantTimeRefusals } from './constant-time-refusals.ts';
export { reachOfCaller, refuseWidening } from './escalation.ts';
export type { ClientSecretGrant, KeyDirectory, KeyGrant, KeyLimits, SigningRequirement } from './key-directory.ts';
export { createKeys, KEYS_CHANNEL, type Keys, type PlainKey } from './keys.ts';
export { createLastUse } from './last-use.ts';
export { createManagementKeyDirectory, type ManagementKeyDirectory } from './management/admit-management-key.ts';
export { ManagementKeys } from './management/management-keys.ts';
export { managementKeyRoutes } from './management/routes.ts';
export { reachOf } from './reach.ts';
export { createGrantOfKey, createReadKey } from './read-key.ts';
export { revokeAccountKeys, revokeKeysInProject, revokeMemberKeys, revokeProjectKeys } from './revoke-account-keys.ts';
export { keyRoutes } from './routes.ts';

/** For the ORM's list of entities. */
export const keyEntities = [ApiKey];
