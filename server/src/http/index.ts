export type { Call, Handlers } from './handlers.ts';
export type { KeyPrincipal, Principal, SessionGrant, SessionPrincipal } from './principal.ts';
