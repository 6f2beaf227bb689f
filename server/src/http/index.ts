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
