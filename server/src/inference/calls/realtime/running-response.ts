import { hash } from 'node:crypto';
import type { ReceiptUsage, RequestAttempt } from '@tallygate/contract';
import type { Admission } from '../admission.ts';
import type { Call } from '../call.ts';
import type { Target } from '../deployments.ts';
import type { InferenceDeps } from '../deps.ts';
import { keptPromise } from '../response-headers.ts';
import { asStep, isBeforeRun } from '../run-calls.ts';
import type { RunningCall } from '../running-calls.ts';
import { beginCall } from '../serve.ts';
import type { Served } from '../served.ts';
import { mostUsage, releaseLater, settle } from '../settlement.ts';
import type { Mark } from './conversation-bound.ts';

/** How a response has ended. */
export interface ResponseEnd {
  readonly outcome: Served['outcome'];
  /** Undefined: nobody said it, so that all that was held is charged. */
  readonly usage: ReceiptUsage | undefined;
  /** What the client is told of it; empty where it is told nothing. */
  readonly told: Buffer | string;
}

/** A response that is held and that the provider may be at work for, until it is settled or comes to nothing. */
export class RunningResponse {
  readonly admission: Admission;
  readonly running: RunningCall;
  /** Where its conversation was when it was asked for; undefined where it reads something else. */
  mark: Mark | undefined;
  /** Out of band it is no part of the conversation. */
  isOutOfBand = false;
  /** The event of the client that asked for it. */
  askedBy: string | undefined;
  /** Nobody waits for it any more: it is cancelled as soon as it has an id. */
  isUnwanted = false;
  /** The provider has begun it, epoch milliseconds. */
  begunAt: number | undefined;
  readonly #target: Target;
  readonly #deps: InferenceDeps;
  readonly #over: () => void;
  readonly #askedTick = performance.now();
  #latencyMs = 0;
  #isEnded = false;

  constructor(admission: Admission, running: RunningCall, { deps, over }: { readonly deps: InferenceDeps; readonly over: () => void }) {
    const [target] = admission.targets;
    if (!target) throw new Error('An admission has at least one target');
    this.admission = admission;
    this.running = running;
    this.#target = target;
    this.#deps = deps;
    this.#over = over;
  }

  get call(): Call {
    return this.admission.call;
  }

  get maxOutputTokens(): number {
    return this.admission.maxOutputTokens ?? 0;
  }

  /** Signed before it is settled: the receipt has the hash of what the client is told, and that has this. */
  get promise(): string | undefined {
    return keptPromise(this.admission, this.#target.model.id, this.#deps);
  }

  begins(): void {
    this.begunAt = this.#deps.clock.now();
    this.#latencyMs = performance.now() - this.#askedTick;
  }

  /** Once. @throws Problem `store_unavailable` where it cannot be written: the client must not be told its end then. It is settled later. */
  async settle({ outcome, usage, told }: ResponseEnd): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { call, admission } = this;
    const served: Served = {
      target: this.#target,
      ...this.#journey(),
      outcome,
      usage: usage ?? mostUsage(admission, this.#target),
      estimated: usage === undefined,
      responseSha256: hash('sha256', told, 'hex'),
      firstByteAt: this.begunAt ?? null,
      completedAt: this.#deps.clock.now(),
      overheadMs: Math.max(0, this.#askedTick - call.startedTick),
    };
    try {
      await settle(admission, served, this.#deps);
      this.#deps.onServed(call, served);
    } finally {
      this.#over();
    }
  }

  /** The provider has not begun it, and does not. */
  async release(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    try {
      await releaseLater(this.admission, this.#deps);
    } finally {
      this.#over();
    }
  }

  #journey(): Pick<Served, 'attempts' | 'attempt' | 'fallback'> {
    const { deployment, model } = this.#target;
    const attempt: RequestAttempt = {
      deployment: deployment.name,
      provider: deployment.provider,
      model: model.id,
      outcome: 'answered',
      status: null,
      started_ms: tenths(this.#askedTick - this.call.startedTick),
      duration_ms: tenths(this.#latencyMs),
    };
    return { attempts: [attempt], attempt: 1, fallback: 'none' };
  }
}

const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

/**
 * Holds the worst case of a response, and writes down what settles it should this process die: from here on the provider may be asked. It is a
 * step of its agent run until it has ended.
 *
 * @throws Problem as `admit`, and those of the run
 */
export function beginResponse(call: Call, deps: InferenceDeps): Promise<RunningResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RunningResponse>();
  untilOver(call, deps, resolve).catch(reject);
  return promise;
}

async function untilOver(call: Call, deps: InferenceDeps, onBegun: (response: RunningResponse) => void): Promise<void> {
  if (isBeforeRun(call)) return asStep(call, deps, (step) => untilOver(step, deps, onBegun));
  const [admission, running] = await beginCall(call, deps);
  const { promise: ended, resolve: over } = Promise.withResolvers<void>();
  try {
    onBegun(new RunningResponse(admission, running, { deps, over }));
    await ended;
  } finally {
    running.end();
  }
}
