import type { AccountRole, ManagementScope, Role, Scope } from '@tallygate/contract';

/** Who is calling, once the credential is proven. */
export type Principal = KeyPrincipal | SessionPrincipal | ManagementPrincipal;

/** Who may run models. */
export type ModelCaller = KeyPrincipal | SessionPrincipal;

/** Who may administer an account: a person, or a program of theirs. */
export type Administrator = SessionPrincipal | ManagementPrincipal;

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

/** A program that administers the account for the member who made its key, with at most the rights of an admin. */
export interface ManagementPrincipal extends Caller {
  readonly kind: 'management';
  readonly managementKeyId: string;
  readonly scopes: ReadonlySet<ManagementScope>;
  /** What it administers is live. */
  readonly livemode: true;
}

/** What a management key carries: it spends nothing. */
export interface ManagementGrant {
  readonly principal: ManagementPrincipal;
  readonly monthlyCap: null;
  /** Id of the account's plan. */
  readonly plan: string;
}

/** What a session carries into admission: the same members as an API key's grant. */
export interface SessionGrant {
  readonly principal: SessionPrincipal;
  /** Sessions have no cap. */
  readonly monthlyCap: null;
  /** Id of the account's plan. */
  readonly plan: string;
}
