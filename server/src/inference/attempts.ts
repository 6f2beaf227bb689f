import type { RequestAttempt } from '@tallygate/contract';
import { type UpstreamAnswer, type UpstreamCall, UpstreamCut, type UpstreamFault } from '../adapters/upstream/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Admission } from './admission.ts';
import { type Deployments, type Skipped, skippedOf, type Target } from './deployments.ts';

export interface AttemptDeps {
  readonly deployments: Deployments;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeouts: {
    /** Plain answers begin when they are complete, so they may take long. */
    readonly plainFirstByteMs: number;
    readonly streamFirstByteMs: number;
    readonly idleMs: number;
  };
}

/** What an answer was made into. */
interface Used<T> {
  readonly ok: true;
  readonly value: T;
  /** It broke off after the client had seen its first byte: too late for another target, and yet a failure of this one. */
  readonly brokeOff?: boolean;
}

/** How the calls to providers went. */
export interface Journey<T> {
  /** What the last target's answer was made into, or the fault that ended the journey. */
  readonly result: Used<T> | UpstreamFault;
  readonly target: Target;
  readonly attempts: readonly RequestAttempt[];
  /** What was left aside. */
  readonly skipped: readonly Skipped[];
  readonly fallback: 'none' | 'deployment' | 'model';
  /** Time spent waiting for providers, milliseconds. */
  readonly upstreamMs: number;
}

const OUTCOME = { rejected: 'rejected', rate_limited: 'rate_limited', timeout: 'timeout', cancelled: 'failed', failed: 'failed' } as const;

/** More deployments than this are not tried for one request: the client has a timeout too. */
const MOST_ATTEMPTS = 5;

/**
 * Calls the targets in order until one answers. `use` makes an answer into a result, or into a fault when nothing of it has reached the
 * client yet, so that the next target may try.
 */
export async function firstThatAnswers<T>(
  admission: Admission,
  deps: AttemptDeps,
  use: (answer: UpstreamAnswer, journey: Omit<Journey<T>, 'result'>) => Promise<Used<T> | UpstreamFault>,
): Promise<Journey<T>> {
  const { call } = admission;
  const attempts: RequestAttempt[] = [];
  const targets = admission.targets.slice(0, call.headers.fallbackPolicy === 'none' ? 1 : MOST_ATTEMPTS);
  const skipped = [...admission.skipped];
  let upstreamMs = 0;
  let last: Journey<T> | undefined;
  for (const [index, target] of targets.entries()) {
    // The last one is tried in any case: there is nobody else.
    if (!deps.deployments.claim(target, deps.clock.now()) && (last || index < targets.length - 1)) {
      skipped.push(skippedOf(target, deps.deployments.isOpen(target, deps.clock.now()) ? 'cooling_down' : 'probing'));
      continue;
    }
    const startedTick = performance.now();
    const answer = await target.deployment.upstream.call(upstreamCall(admission, target, deps));
    const firstByteTick = performance.now();
    upstreamMs += firstByteTick - startedTick;
    const attempt = {
      ...attemptOf(target, answer),
      started_ms: tenths(startedTick - call.startedTick),
      duration_ms: tenths(firstByteTick - startedTick),
    };
    attempts.push(attempt);
    const journey = { target, attempts, skipped, fallback: fallbackOf(admission, target, attempts.length), upstreamMs };
    const result = answer.ok ? await use(answer, journey) : answer;
    upstreamMs += plainBodyMs(admission, firstByteTick);
    last = { ...journey, upstreamMs, result };
    if (result.ok) {
      if (result.brokeOff) noteFailure(BROKEN_OFF, target, call, deps);
      else deps.deployments.answered(target, firstByteTick - startedTick, deps.clock.now());
      return last;
    }
    noteFailure(result, target, call, deps);
    attempts[attempts.length - 1] = { ...attempt, outcome: OUTCOME[result.kind] };
    if (!result.retryable || call.signal.aborted) return last;
  }
  if (!last) throw new Error('An admission has at least one target');
  return withRightWait(last, targets, deps);
}

const BROKEN_OFF = { kind: 'failed', status: 200, retryAfterMs: null, message: 'its answer broke off' } as const;

function noteFailure(
  fault: Pick<UpstreamFault, 'kind' | 'status' | 'retryAfterMs' | 'message'>,
  target: Target,
  { requestId }: Admission['call'],
  { deployments, clock, log }: AttemptDeps,
): void {
  const opened = deployments.failed(target, fault, clock.now());
  const { deployment, model } = target;
  const facts = { requestId, deployment: deployment.name, model: model.id, kind: fault.kind, status: fault.status, because: fault.message };
  if (opened?.reason === 'credentials')
    log.error(
      { ...facts, forMs: opened.forMs },
      'a provider refuses the credentials that are configured for it: nothing is sent there for a while',
    );
  else if (opened)
    log.warn({ ...facts, reason: opened.reason, forMs: opened.forMs }, 'a provider did not answer, and is left aside for a while');
  else log.warn(facts, 'a provider did not answer');
}

/** Of several that are at their limits, the client has to wait for the first one that is not. */
function withRightWait<T>(journey: Journey<T>, targets: readonly Target[], { deployments, clock }: AttemptDeps): Journey<T> {
  const { result } = journey;
  if (result.ok || (result.kind !== 'rate_limited' && result.retryAfterMs === null)) return journey;
  const retryAfterMs = deployments.soonestMs(targets, clock.now());
  return retryAfterMs === null ? journey : { ...journey, result: { ...result, retryAfterMs } };
}

function upstreamCall(
  { call, maxOutputTokens }: Admission,
  { model, deployment, dialect }: Target,
  { timeouts }: AttemptDeps,
): UpstreamCall {
  const { isStream, mayBeWhole } = call.work;
  const { endpoint, request, files } = dialect;
  return {
    endpoint,
    model: deployment.upstreamModel,
    request,
    files,
    // Bytes that come as they are made, speech for one, are asked for as a plain answer.
    stream: isStream && !mayBeWhole,
    // A fallback may give less than what is held for the dearest; asked for more than it can give, it would refuse.
    maxOutputTokens: maxOutputTokens === null ? null : Math.min(maxOutputTokens, model.maxOutputTokens ?? maxOutputTokens),
    firstByteTimeoutMs: isStream ? timeouts.streamFirstByteMs : timeouts.plainFirstByteMs,
    idleTimeoutMs: timeouts.idleMs,
    signal: call.signal,
    sandboxFault: call.headers.sandboxFault,
    // A dialect is made with the request of its own endpoint, and a bound exactly where that endpoint has one.
  } as UpstreamCall;
}

const attemptOf = ({ model, deployment }: Target, answer: UpstreamAnswer | UpstreamFault) => ({
  deployment: deployment.name,
  provider: deployment.provider,
  model: model.id,
  outcome: answer.ok ? ('answered' as const) : OUTCOME[answer.kind],
  status: answer.status,
});

/** The body of a plain answer is the provider's time; a stream's is not, its overhead is taken at the first byte. */
const plainBodyMs = ({ call }: Admission, firstByteTick: number): number => (call.work.isStream ? 0 : performance.now() - firstByteTick);

function fallbackOf({ call }: Admission, { model }: Target, attempt: number): Journey<unknown>['fallback'] {
  if (model.id !== call.work.model) return 'model';
  return attempt === 1 ? 'none' : 'deployment';
}

const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

/** A body that broke off before anything of it reached the client. */
export function faultOfCut(error: unknown): UpstreamFault {
  if (!(error instanceof UpstreamCut)) throw error;
  const kind = error.reason === 'aborted' ? 'cancelled' : error.reason === 'idle_timeout' ? 'timeout' : 'failed';
  return invalidAnswer(error.message, kind);
}

/** An answer that is none. */
export const invalidAnswer = (message: string, kind: UpstreamFault['kind'] = 'failed'): UpstreamFault => ({
  ok: false,
  kind,
  retryable: kind !== 'cancelled',
  status: null,
  retryAfterMs: null,
  message,
  param: null,
  code: null,
});
