import type { Pool } from 'pg';
import type { InferenceDeps, Operation, StandingOf } from '../calls/index.ts';
import type { Files } from '../files/index.ts';
import type { ContentKeys } from '../stored-content/index.ts';

/** What the batches are given. */
export interface BatchDeps {
  readonly pool: Pool;
  readonly content: ContentKeys;
  readonly files: Pick<Files, 'open' | 'create'>;
  readonly inference: InferenceDeps;
  /** Those that a line may ask for are chosen from them. */
  readonly operations: readonly Operation[];
  readonly callerStatusOf: StandingOf;
  /** Which of the receipts the ledger has, with all that is settled by now. */
  readonly settledOf: (receiptIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Lines of one batch that run at the same time. */
  readonly linesAtOnce: number;
}
