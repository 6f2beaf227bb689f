import type { OutgoingHttpHeaders } from 'node:http';
import type { Problem } from '../../kernel/problem.ts';
import type { RunDirectory } from '../../money/runs/index.ts';
import type { AdmissionDeps } from './admission.ts';
import type { AttemptDeps } from './attempts.ts';
import type { Call } from './call.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { RunningCalls } from './running-calls.ts';
import type { Served } from './settlement.ts';
import type { UnsettledCalls } from './unsettled-calls.ts';

/** An answer, ready to be sent. */
export interface Reply {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** What the inference slice is given. */
export interface InferenceDeps extends AdmissionDeps, AttemptDeps {
  readonly heartbeat: Heartbeat;
  readonly running: RunningCalls;
  readonly unsettled: UnsettledCalls;
  readonly runs: Pick<RunDirectory, 'enter'>;
  problemReply(problem: Problem, call: Pick<Call, 'requestId' | 'clientRequestId'>): Reply;
  /** Told of every settled call; for logs and metrics. */
  onServed(call: Call, served: Served): void;
}
