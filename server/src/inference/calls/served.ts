import type { ReceiptUsage, RequestAttempt, RequestTrace, SkippedDeployment } from '@tallygate/contract';
import type { ServedBy } from './deployments.ts';

/** What came of an admitted call. */
export interface Served {
  readonly target: ServedBy;
  readonly attempts: readonly RequestAttempt[];
  /** Which of the request's calls is settled, from 1: the one that it was begun as, whoever answered it. By that number it is booked once. */
  readonly attempt: number;
  /** Absent: nothing was left aside. */
  readonly skipped?: readonly SkippedDeployment[];
  readonly fallback: RequestTrace['fallback'];
  readonly outcome: RequestTrace['outcome'];
  readonly usage: ReceiptUsage;
  /** The provider reported no usage: the counts are ours. */
  readonly estimated: boolean;
  /** SHA-256 of the response body as sent, hex. */
  readonly responseSha256: string;
  readonly firstByteAt: number | null;
  readonly completedAt: number;
  readonly overheadMs: number;
}
