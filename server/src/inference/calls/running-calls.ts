import { Problem } from '../../kernel/problem.ts';
import { type Call, keyIdOf } from './call.ts';
import type { Target } from './deployments.ts';

/**
 * Why a provider's call was cut from our side: nobody waited any more and the provider stops billing then; nobody waited any more and its
 * time was over; the gateway stops.
 */
export type EndedBy = 'client' | 'deadline' | 'shutdown';

interface RunningCallsOptions {
  /** Calls whose client has left that a key may have at the same time, in this process. */
  readonly mostLeftPerKey: number;
  /** How long a provider's answer is read on after its client has left, milliseconds. */
  readonly readOnMs: number;
}

const RETRY_LEFT_SECONDS = 5;
/** What settling takes once everything is cut. */
const SETTLING_MS = 3_000;

/**
 * Every call that a provider is at work for. A provider bills what it generates, also after a hang-up: so an answer whose client has left is
 * read on until its usage is known. Here it is bounded, and ended when the gateway stops.
 */
export class RunningCalls {
  readonly #options: RunningCallsOptions;
  readonly #running = new Set<RunningCall | AttemptLeft>();
  readonly #leftByKey = new Map<string, number>();
  #isStopping = false;
  #onIdle: (() => void) | undefined;

  constructor(options: RunningCallsOptions) {
    this.#options = options;
  }

  /** The gateway stops: what is cut now may be asked for again after the next start. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** @throws Problem `disconnected_in_flight` where the caller's clients have left too many calls behind */
  requireRoom(call: Pick<Call, 'grant'>): void {
    if (this.#leftByKey.size === 0 || (this.#leftByKey.get(callerOf(call)) ?? 0) < this.#options.mostLeftPerKey) return;
    throw new Problem(
      'disconnected_in_flight',
      `Clients of this API key hung up on ${this.#options.mostLeftPerKey} requests that the providers are still at work for: read answers to their end, or repeat the request once some of those have ended.`,
      { retryAfterSeconds: RETRY_LEFT_SECONDS },
    );
  }

  begin(call: Call): RunningCall {
    const running = new RunningCall(call, {
      readOnMs: this.#options.readOnMs,
      onLeft: () => this.#count(call, 1),
      onEnd: () => {
        if (running.isReadOn) this.#count(call, -1);
        this.#delete(running);
      },
      onLeftBehind: (left) => this.#running.add(left),
      onLeftEnd: (left) => this.#delete(left),
    });
    this.#running.add(running);
    if (this.#isStopping) running.cut('shutdown');
    return running;
  }

  /** Lets calls end, and cuts those that have not when the time is over. Resolves once all are settled. */
  async drain(timeoutMs: number): Promise<void> {
    if (!(await this.#idleWithin(timeoutMs))) await this.stop();
  }

  /** Cuts every call, and those that begin from now on. Resolves once all are settled. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const running of this.#running) running.cut('shutdown');
    await this.#idleWithin(SETTLING_MS);
  }

  #delete(running: RunningCall | AttemptLeft): void {
    this.#running.delete(running);
    if (this.#running.size === 0) this.#onIdle?.();
  }

  #count(call: Call, change: 1 | -1): void {
    const caller = callerOf(call);
    const count = (this.#leftByKey.get(caller) ?? 0) + change;
    if (count > 0) this.#leftByKey.set(caller, count);
    else this.#leftByKey.delete(caller);
  }

  async #idleWithin(ms: number): Promise<boolean> {
    if (this.#running.size === 0) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    this.#onIdle = () => resolve(true);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#onIdle = undefined;
    }
  }
}

const callerOf = ({ grant: { principal } }: Pick<Call, 'grant'>): string => keyIdOf(principal) ?? principal.userId;

interface RunningCallOptions {
  readonly readOnMs: number;
  onLeft(): void;
  onEnd(): void;
  onLeftBehind(left: AttemptLeft): void;
  onLeftEnd(left: AttemptLeft): void;
}

/** A provider at work, as far as its cancellation and its bill go. */
export interface Running {
  readonly endedBy: EndedBy | undefined;
  readonly signal: AbortSignal;
}

/** One call from its admission until it is settled. */
export class RunningCall implements Running {
  /** The provider has sent what the client has not taken yet: how much it has generated is not known. */
  isBehind = false;
  /** What is settled is fixed: what happens to the run or the client from here on changes nothing. */
  isDecided = false;
  /** Its client has left, and its answer is read on. */
  isReadOn = false;
  /** A provider has given an answer: it bills, also if the answer is not used. */
  isAnswered = false;
  /** What the waiting client was told when the provider did not answer in time. */
  told: Buffer | undefined;
  /** Under which number of the request's calls it is in flight, and is settled: those below it were left behind, each with a hold of its own. */
  begunAs = 1;
  readonly #call: Call;
  readonly #options: RunningCallOptions;
  #cut = new AbortController();
  #target: Target | undefined;
  #endedBy: EndedBy | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: Call, options: RunningCallOptions) {
    this.#call = call;
    this.#options = options;
    if (call.signal.aborted) this.handleEvent();
    else call.signal.addEventListener('abort', this);
  }

  /** Of the provider's call: it may outlive the caller's. */
  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  get endedBy(): EndedBy | undefined {
    return this.#endedBy;
  }

  /** Its provider did not answer in time, and the waiting client was told so: its answer is read on for its bill alone. */
  get isGivenUp(): boolean {
    return this.told !== undefined;
  }

  /** To be told of each target before it is asked. */
  asks(target: Target): void {
    this.#target = target;
  }

  /** The client has hung up, or the call's run has ended. */
  handleEvent(): void {
    if (this.#endedBy || this.isGivenUp) return;
    if (this.#mayCancel()) {
      this.cut('client');
      return;
    }
    this.isReadOn = true;
    this.#options.onLeft();
    this.#readOn();
  }

  /**
   * The provider is late, and no other is asked.
   * @param told what the waiting client is told; undefined where it waits on
   */
  giveUp(told: Buffer | undefined): void {
    if (this.#endedBy || this.isReadOn || this.isGivenUp) return;
    this.told = told;
    if (this.isGivenUp && this.#target && !this.isBehind && costsLessCancelled(this.#call, this.#target)) this.cut('client');
    else this.#readOn();
  }

  /** The provider is late, and another is asked: from here on this is the call of that one. */
  leaveBehind(): AttemptLeft {
    if (!this.#target) throw new Error('No provider was asked');
    const { readOnMs, onLeftBehind, onLeftEnd } = this.#options;
    const left = new AttemptLeft(this.#cut, readOnMs, onLeftEnd);
    onLeftBehind(left);
    if (costsLessCancelled(this.#call, this.#target)) left.cut('client');
    this.#cut = new AbortController();
    if (this.#endedBy) this.#cut.abort();
    return left;
  }

  #readOn(): void {
    this.#timer = setTimeout(() => this.cut('deadline'), this.#options.readOnMs).unref();
  }

  cut(by: EndedBy): void {
    this.#endedBy ??= by;
    this.#cut.abort();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#call.signal.removeEventListener('abort', this);
    this.#options.onEnd();
  }

  /**
   * Of an answer that comes whole nothing can be counted before its end: to cancel it would cost the whole bound, so only who asks for that
   * gets it.
   */
  #mayCancel(): boolean {
    const { work, headers } = this.#call;
    if (this.#target?.deployment.onCancel !== 'stops_billing' || headers.onDisconnect === 'finish' || this.isBehind) return false;
    return work.isStream || headers.onDisconnect === 'cancel';
  }
}

/** An attempt that was given up while another deployment is asked: its answer is read on for its bill alone. */
export class AttemptLeft implements Running {
  readonly #cut: AbortController;
  readonly #onEnd: (left: AttemptLeft) => void;
  readonly #timer: NodeJS.Timeout;
  #endedBy: EndedBy | undefined;

  constructor(cut: AbortController, readOnMs: number, onEnd: (left: AttemptLeft) => void) {
    this.#cut = cut;
    this.#onEnd = onEnd;
    this.#timer = setTimeout(() => this.cut('deadline'), readOnMs).unref();
  }

  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  get endedBy(): EndedBy | undefined {
    return this.#endedBy;
  }

  cut(by: EndedBy): void {
    this.#endedBy ??= by;
    this.#cut.abort();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#onEnd(this);
  }
}

/** Whether all that a provider has made can be seen as it comes, so that what is cut can be counted. */
export const isSeen = ({ work }: Pick<Call, 'work'>, { model }: Target): boolean =>
  work.output !== null && work.isStream && !model.capabilities.has('reasoning');

/** Nothing but a count of what came is below the cost of the whole answer: without one, reading on is cheaper. */
const costsLessCancelled = (call: Call, target: Target): boolean => target.deployment.onCancel === 'stops_billing' && isSeen(call, target);
