import type { Role, Scope } from '@tallygate/contract';

/** Who is calling, once the credential is proven. */
export type Principal = KeyPrincipal | SessionPrincipal;

interface Caller {
  readonly accountId: string;
  readonly userId: string;
  readonly role: Role;
}

export interface KeyPrincipal extends Caller {
  readonly kind: 'key';
  readonly keyId: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly livemode: boolean;
}

export interface SessionPrincipal extends Caller {
  readonly kind: 'session';
  readonly sessionId: string;
}
