import type { ClientSignature, Surface } from '@tallygate/contract';
import type { KeyGrant } from '../../access/keys/index.ts';
import type { SessionGrant } from '../../http/index.ts';
import type { RunStep } from '../../money/runs/index.ts';
import type { InferenceHeaders } from './headers.ts';

/** Who calls and what they may spend. A session has the limits of its account where it is to run a model. */
export type Caller = KeyGrant | (SessionGrant & Pick<KeyGrant, 'spending'>);

/** One inference request from its arrival to its settlement, apart from what it asks for. */
export interface CallContext {
  /** Ours, unique: what usage, receipt and trace are filed under. */
  readonly requestId: string;
  /** The caller's own `X-Request-Id`, where it is well-formed. */
  readonly clientRequestId: string | null;
  readonly receiptId: string;
  /** In whose form its refusals are; absent: in our own. */
  readonly surface?: Surface | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** The same moment on the monotonic clock, milliseconds. */
  readonly startedTick: number;
  readonly grant: Caller;
  readonly headers: InferenceHeaders;
  /** The caller's own signature of the request, verified. */
  readonly clientSignature: ClientSignature | null;
  /** Aborted when the client hangs up, and when the run ends that the call belongs to. */
  readonly signal: AbortSignal;
  /** Whether its client is gone, of work that goes on then: for that the signal is not aborted. */
  readonly isLeft?: () => boolean;
  /** The call's place in its agent run, once it was let in there. */
  readonly run?: RunStep;
  /** Attempts that earlier processes were charged for, which died at it. Absent: none. */
  readonly attemptsBefore?: number;
  /** Absent: answered at once, at the full price. */
  readonly kind?: 'batch_line';
  /** Takes the promise of its receipt once that is certain, where the answer is fetched later; whatever the outcome. */
  readonly keepPromise?: ((promise: string) => void) | undefined;
}

/** A call whose answer is stored before it is settled. */
export interface KeptCall extends CallContext {
  /** Signs that there will be a receipt, for an answer that is fetched later. */
  promise(): string | undefined;
}
