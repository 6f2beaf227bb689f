import type { Problem } from '../../kernel/problem.ts';
import type { SpendingReader } from '../../money/limits/index.ts';
import type { RunDirectory } from '../../money/runs/index.ts';
import type { ReceiptPromises } from '../../receipts/index.ts';
import type { AdmissionDeps } from './admission.ts';
import type { AnswerCache } from './answer-cache/answer-cache.ts';
import type { AttemptDeps } from './attempt.ts';
import type { Call } from './call.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Reply } from './reply.ts';
import type { RunningCalls } from './running-calls.ts';
import type { Served } from './served.ts';
import type { UnsettledCalls } from './unsettled-calls.ts';

/** What the inference slice is given. */
export interface InferenceDeps extends AdmissionDeps, AttemptDeps {
  readonly heartbeat: Heartbeat;
  readonly running: RunningCalls;
  readonly unsettled: UnsettledCalls;
  /** Signs what is promised of a receipt; left out where nobody reads it. */
  readonly promises?: Pick<ReceiptPromises, 'of'> | undefined;
  /** Left out where nothing is kept. */
  readonly answers?: AnswerCache | undefined;
  readonly runs: Pick<RunDirectory, 'enter'>;
  /** The limits of an account, for a session that is to run a model. */
  readonly spendingOf: SpendingReader;
  /** Of an answer that is given as a whole; one that is larger is charged and not given. 64 MiB where it is left out. */
  readonly mostAnswerBytes?: number;
  problemReply(problem: Problem, call: Pick<Call, 'requestId' | 'clientRequestId' | 'surface'>): Reply;
  /** Told of every settled call; for logs and metrics. */
  onServed(call: Call, served: Served): void;
}
