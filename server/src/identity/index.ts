import { Account } from './account.ts';
import { Session } from './session.ts';
import { User } from './user.ts';

export type { Call, Handler, Handlers, Peer } from './handlers.ts';
export { createPasswords, type Passwords } from './passwords.ts';
export type { KeyPrincipal, Principal, SessionGrant, SessionPrincipal } from './principal.ts';
export { identityRoutes } from './routes.ts';
export { createSessions, type Sessions, type SignedIn } from './sessions.ts';
export { createUsers, type Owner, type Users } from './users.ts';

/** For the ORM's list of entities. */
export const identityEntities = [Account, User, Session];
