export type { Call, Handlers } from './handlers.ts';
export type {
  Administrator,
  KeyPrincipal,
  ManagementGrant,
  ManagementPrincipal,
  ModelCaller,
  Principal,
  SessionGrant,
  SessionPrincipal,
} from './principal.ts';
export { isSeenIn, type Seen, type SeenBy } from './seen.ts';
