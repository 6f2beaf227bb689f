import type { Actor, Origin } from '../../audit/index.ts';
import type { Queryable } from '../../kernel/statements.ts';

/** What other slices do when an account closes, in the same transaction: identity does not know them. */
export type OnAccountClosed = (db: Queryable, closed: ClosedAccount) => Promise<void>;

export interface ClosedAccount {
  readonly accountId: string;
  readonly at: Date;
  /** Who closed it, for the audit log. */
  readonly actor: Actor;
  readonly origin: Origin;
}

/** What has to happen, in the same transaction, when an account switches storing off. */
export type OnStoringOff = (db: Queryable, accountId: string) => Promise<void>;
