export type { KeyPrincipal, Principal, SessionPrincipal } from './principal.ts';
