import type { RequestAttempt } from '@tallygate/contract';
import { type UpstreamAnswer, type UpstreamCall, UpstreamCut, type UpstreamFault } from '../adapters/upstream/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Admission } from './admission.ts';
import type { Deployments, Target } from './deployments.ts';

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

/** How the calls to providers went. */
export interface Journey<T> {
  /** What the last target's answer was made into, or the fault that ended the journey. */
  readonly result: { readonly ok: true; readonly value: T } | UpstreamFault;
  readonly target: Target;
  readonly attempts: readonly RequestAttempt[];
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
  use: (answer: UpstreamAnswer, journey: Omit<Journey<T>, 'result'>) => Promise<{ ok: true; value: T } | UpstreamFault>,
): Promise<Journey<T>> {
  const { call } = admission;
  const attempts: RequestAttempt[] = [];
  const targets = admission.targets.slice(0, call.headers.fallbackPolicy === 'none' ? 1 : MOST_ATTEMPTS);
  let upstreamMs = 0;
  let last: Journey<T> | undefined;
  for (const target of targets) {
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
    const journey = { target, attempts, fallback: fallbackOf(admission, target, attempts.length), upstreamMs };
    const result = answer.ok ? await use(answer, journey) : answer;
    upstreamMs += plainBodyMs(admission, firstByteTick);
    last = { ...journey, upstreamMs, result };
    if (result.ok) {
      deps.deployments.answered(target.deployment);
      return last;
    }
    deps.deployments.failed(target.deployment, result, deps.clock.now());
    attempts[attempts.length - 1] = { ...attempt, outcome: OUTCOME[result.kind] };
    deps.log.warn(
      { requestId: call.requestId, deployment: target.deployment.name, kind: result.kind, status: result.status, because: result.message },
      'a provider did not answer',
    );
    if (!result.retryable || call.signal.aborted) return last;
  }
  if (!last) throw new Error('An admission has at least one target');
  return last;
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
