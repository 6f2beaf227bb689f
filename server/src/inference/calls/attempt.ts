import type { ReceiptUsage, RequestAttempt } from '@tallygate/contract';
import type { UpstreamAnswer, UpstreamCall, UpstreamFault } from '../../adapters/upstream/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Catalog } from '../../money/catalog/index.ts';
import type { Admission } from './admission.ts';

import type { Call } from './call.ts';
import type { Deployments, Skipped, Target } from './deployments.ts';
import { viaWith } from './provider-loop.ts';
import type { Running, RunningCall } from './running-calls.ts';
import { usageOfFault } from './usage.ts';

export interface AttemptDeps {
  readonly catalog: Catalog;
  readonly deployments: Deployments;
  readonly clock: Clock;
  readonly log: Log;
  /** This process, as it names itself to providers. */
  readonly gatewayId: string;
  /** What providers are told of the trace that a call is in; absent where nothing is traced. */
  readonly traceparentFor?: ((call: Call, attempt: number) => string) | undefined;
  /** After these a provider is late: the client is told so, or another is asked. */
  readonly timeouts: {
    /** Plain answers begin when they are complete, so they may take long. */
    readonly plainFirstByteMs: number;
    readonly streamFirstByteMs: number;
    readonly idleMs: number;
    /** How long a request waits in all for providers that say when they may be asked again, when no other is left. */
    readonly retryAfterMs: number;
  };
}

/** What an answer was made into. */
export interface Used<T> {
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
  /** Which of the request's calls is settled: the one that it was begun as. */
  readonly attempt: number;
  /** What was left aside. */
  readonly skipped: readonly Skipped[];
  readonly fallback: 'none' | 'deployment' | 'model';
  /** Time spent waiting for providers, milliseconds. */
  readonly upstreamMs: number;
}

/** What is charged for an answer that nobody waits for. */
export interface Bill {
  readonly usage: ReceiptUsage;
  readonly estimated: boolean;
}

/** What is done with answers. */
export interface AnswerReader<T> {
  /** Makes an answer into a result, or into a fault when nothing of it has reached the client yet, so that the next target may try. */
  read(answer: UpstreamAnswer, journey: JourneySoFar, attempt: Attempt): Promise<Used<T> | UpstreamFault>;
  /** What is charged for an answer that nobody waits for. */
  billOf(value: T, attempt: Attempt): Promise<Bill>;
  /** The provider is late, and no other is asked: the waiting client is to be told. Its answer is read on. */
  late(fault: UpstreamFault, journey: JourneySoFar): void;
}

export type JourneySoFar = Omit<Journey<unknown>, 'result'>;

/** What all attempts of a call have come to by now. */
export interface Progress {
  readonly attempts: RequestAttempt[];
  readonly skipped: Skipped[];
  /** Time spent waiting for providers, milliseconds. */
  upstreamMs: number;
  /** Of that: until one might be asked again. */
  waitedMs: number;
}

/** What takes the place of an answer that does not come in time. */
export const LATE = Symbol('late');

export const OUTCOME = {
  rejected: 'rejected',
  rate_limited: 'rate_limited',
  timeout: 'timeout',
  cancelled: 'failed',
  failed: 'failed',
} as const;

/** One target that is asked, until its answer is read. */
export class Attempt {
  readonly target: Target;
  /** What tells of the end of the provider's call. */
  running: Running;
  /** Its provider did not answer in time. */
  isLate = false;
  /** Another is asked beside it: nothing of its answer is for the client. */
  isLeft = false;
  /** Something of its answer has reached the client: no other may be asked. */
  isOpen = false;
  isOver = false;
  /** Until the first byte, milliseconds. */
  latencyMs = 0;
  readonly #admission: Admission;
  readonly #ofCall: RunningCall;
  readonly #sofar: Progress;
  readonly #deps: AttemptDeps;
  #onLate: (() => void) | undefined;
  /** Of `sofar.attempts`, once it is there. */
  #place: number | undefined;
  #startedTick = 0;

  constructor(admission: Admission, target: Target, running: RunningCall, sofar: Progress, deps: AttemptDeps) {
    this.#admission = admission;
    this.target = target;
    this.running = running;
    this.#ofCall = running;
    this.#sofar = sofar;
    this.#deps = deps;
  }

  get call(): Call {
    return this.#admission.call;
  }

  /** What it answers, or that it does not in time; to be asked as soon as it is under way. By hand, since `Promise.race` makes five promises. */
  orLate<T>(answered: Promise<T>): Promise<T | typeof LATE> {
    return new Promise((resolve, reject) => {
      this.#onLate = () => resolve(LATE);
      answered.then(resolve, reject);
    });
  }

  async ask<T>({ read }: AnswerReader<T>): Promise<Used<T> | UpstreamFault> {
    try {
      this.#startedTick = performance.now();
      const answer = await this.target.deployment.upstream.call(this.#upstreamCall());
      if (!this.isLate) this.#note(answer.ok ? 'answered' : OUTCOME[answer.kind], answer.status);
      // What is billed is final: no other may be asked.
      if (!answer.ok) return usageOfFault(answer, this.target.dialect.form) ? { ...answer, retryable: false } : answer;
      if (!this.isLeft) this.#ofCall.isAnswered = true;
      const begunTick = performance.now();
      const result = await read(answer, this.journey(), this);
      // The body of a plain answer is the provider's time; a stream's is not, its overhead is taken at the first byte.
      if (!this.isLate && !this.call.work.isStream) this.#sofar.upstreamMs += performance.now() - begunTick;
      return result;
    } finally {
      this.isOver = true;
    }
  }

  /** It is not waited for any longer. */
  givenUp(): UpstreamFault {
    this.isLate = true;
    if (this.#place === undefined) this.#note('timeout', null);
    else this.was('timeout');
    return {
      ...{ ok: false, kind: 'timeout', retryable: true, status: null, retryAfterMs: null, param: null, code: null },
      message: `The provider sent nothing in time, ${Math.round(performance.now() - this.#startedTick)} ms after it was asked.`,
    };
  }

  was(outcome: RequestAttempt['outcome']): void {
    this.amend({ outcome });
  }

  /** What is known of it later. */
  amend(facts: Partial<RequestAttempt>): void {
    const { attempts } = this.#sofar;
    const entry = this.#place === undefined ? undefined : attempts[this.#place];
    if (entry && this.#place !== undefined) attempts[this.#place] = { ...entry, ...facts };
  }

  journey(): JourneySoFar {
    const { attempts, skipped, upstreamMs } = this.#sofar;
    return { target: this.target, attempts, attempt: this.#ofCall.begunAs, skipped, fallback: this.#fallback(), upstreamMs };
  }

  #note(outcome: RequestAttempt['outcome'], status: number | null): void {
    const { attempts } = this.#sofar;
    const { deployment, model } = this.target;
    this.latencyMs = performance.now() - this.#startedTick;
    this.#sofar.upstreamMs += this.latencyMs;
    this.#place = attempts.length;
    attempts.push({
      deployment: deployment.name,
      provider: deployment.provider,
      model: model.id,
      outcome,
      status,
      started_ms: tenths(this.#startedTick - this.call.startedTick),
      duration_ms: tenths(this.latencyMs),
    });
  }

  #fallback(): Journey<unknown>['fallback'] {
    const { work } = this.call;
    const { model } = this.target;
    if (model.id !== work.model && model.id !== this.#deps.catalog.find(work.model)?.id) return 'model';
    const { deployment } = this.#sofar.attempts[0] ?? {};
    return deployment === undefined || deployment === this.target.deployment.name ? 'none' : 'deployment';
  }

  #upstreamCall(): UpstreamCall {
    const { model, deployment, dialect } = this.target;
    const { work, headers } = this.call;
    const { isStream, mayBeWhole } = work;
    const { endpoint, request, files } = dialect;
    const { maxOutputTokens } = this.#admission;
    const { timeouts } = this.#deps;
    return {
      endpoint,
      model: deployment.upstreamModel,
      request,
      files,
      // Bytes that come as they are made, speech for one, are asked for as a plain answer.
      stream: isStream && !mayBeWhole,
      thinkingTokens: work.thinkingTokens?.(model) || undefined,
      // A fallback may give less than what is held for the dearest; asked for more than it can give, it would refuse.
      maxOutputTokens: maxOutputTokens === null ? null : Math.min(maxOutputTokens, model.maxOutputTokens ?? maxOutputTokens),
      firstByteTimeoutMs: isStream ? timeouts.streamFirstByteMs : timeouts.plainFirstByteMs,
      idleTimeoutMs: timeouts.idleMs,
      onOverdue: () => this.#onLate?.(),
      signal: this.running.signal,
      betas: headers.betas,
      sandboxFault: headers.sandboxFault,
      via: viaWith(headers.via, this.#deps.gatewayId),
      traceparent: this.#deps.traceparentFor?.(this.call, this.#sofar.attempts.length),
      // A dialect is made with the request of its own endpoint, and a bound exactly where that endpoint has one.
    } as UpstreamCall;
  }
}

const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
