import type { NanoUsd } from '../../kernel/money.ts';
import type { JournalEntry } from './port.ts';

/** What was settled without its hold: an epoch of the lanes was opened without the process that knew of it. */
export interface LateSettlement {
  /** Settled once under it. */
  readonly lateId: string;
  /** The hold that it settles, where the lanes do have it after all. */
  readonly heldAs: string;
  readonly accountId: string;
  /** Ids of the money lanes that take the whole cost. */
  readonly lanes: readonly string[];
  readonly quota: string | null;
  readonly funds: string | null;
  readonly cost: NanoUsd;
  readonly entry: JournalEntry;
}
