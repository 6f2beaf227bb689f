import type { LaneOperations } from '../../adapters/lanes/authority/remote-lanes.ts';
import type { Bootstrap } from '../bootstrap.ts';
import type { BooksState } from '../health.ts';
import type { Addresses } from '../listeners.ts';
import type { ProcessMetrics } from '../metrics.ts';

/** What a worker has to know before it can open anything. */
export interface Welcome {
  readonly databaseUrl: string;
  /** What requests to providers name this gateway by: one that comes back is refused by whichever worker gets it. */
  readonly gatewayId: string;
  /** Made or read by the authority, so that all processes have the same. */
  readonly internalSecret: string;
  readonly metricsToken: string;
}

/** What the authority does for its workers: whatever only one process of a gateway may do, or may know. */
export type AuthorityOperations = LaneOperations & {
  readonly welcome: () => Welcome;
  /** What the authority's clock says, epoch milliseconds: the months of a gateway begin in all of its processes at once. */
  readonly now: () => number;
  readonly isFirstNonce: (nonce: string, now: number) => boolean | Promise<boolean>;
  /** Returns once the ledger holds all that was settled before. */
  readonly write: () => Promise<void>;
  readonly booksState: () => BooksState | Promise<BooksState>;
  readonly readLogState: () => Promise<string | undefined>;
  readonly keepLogState: (note: string) => Promise<void>;
  /** The metrics of all processes together. */
  readonly renderMetrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
  /** The worker has bound its addresses. */
  readonly listening: (addresses: Addresses) => void;
};

/** What workers do for the authority. */
export type WorkerOperations = {
  /** There is everything now that a client may look for: the worker is ready. */
  readonly serve: (bootstrap: Bootstrap) => void;
  readonly metrics: () => Promise<ProcessMetrics>;
};
