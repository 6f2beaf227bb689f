import type { AccountRole, Role, Scope } from '@tallygate/contract';

/** Who is calling, once the credential is proven. */
export type Principal = KeyPrincipal | SessionPrincipal;

interface Caller {
  readonly accountId: string;
  readonly userId: string;
  readonly role: Role;
  /** In the account. Absent: `owner`. */
  readonly accountRole?: AccountRole;
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

/** What a session carries into admission: the same members as an API key's grant. */
export interface SessionGrant {
  readonly principal: SessionPrincipal;
  /** Sessions have no cap. */
  readonly monthlyCap: null;
  /** Id of the account's plan. */
  readonly plan: string;
}
