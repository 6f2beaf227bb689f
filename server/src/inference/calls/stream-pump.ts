import { setTimeout as delay } from 'node:timers/promises';
import { type UpstreamAnswer, UpstreamCut, type UpstreamFault } from '../../adapters/upstream/port.ts';
import { formatUsd } from '../../kernel/money.ts';
import type { Problem } from '../../kernel/problem.ts';
import { andThen } from '../../kernel/soon.ts';
import { statedUsage } from '../../kernel/stated-usage.ts';
import type { Admission } from './admission.ts';
import type { StreamFilter } from './answer-form.ts';
import type { Attempt, JourneySoFar } from './attempt.ts';
import { faultOfCut, invalidAnswer, noAnswer, noteDecrease } from './attempts.ts';
import { faultOfFirstError } from './begun-with-error.ts';
import type { ClientStream } from './client-stream.ts';
import type { Target } from './deployments.ts';
import type { InferenceDeps } from './deps.ts';
import { answerHeaders } from './response-headers.ts';
import type { RunningCall } from './running-calls.ts';
import { paidCost } from './settlement.ts';
import { StreamHead } from './stream-head.ts';
import type { Relayed } from './stream-usage.ts';
import { tooLargeProblem, unreadableProblem } from './upstream-problem.ts';
import { atLeast, isUsed, leastUsage, readUsageSoFar, usageOfLarge } from './usage.ts';

/** How long the rest of a stream is read on that has told of an error, or of its end and no usage. */
const BEHIND_END_MS = 500;

/** One answer of a provider, and the client that it is for. */
export interface Pumped {
  readonly answer: UpstreamAnswer;
  readonly filter: StreamFilter;
  readonly journey: JourneySoFar;
  readonly attempt: Attempt;
  readonly admission: Admission;
  readonly running: RunningCall;
  readonly client: ClientStream;
  readonly deps: InferenceDeps;
  /** The rest of the answer cannot be passed on. */
  leaveOut(problem: Problem): void;
}

/** What came of it. What fails before the first byte has reached the client is a fault: the next target may try. */
export type PumpResult = { ok: true; value: Relayed; brokeOff: boolean } | UpstreamFault;

/** What the provider has said of the usage by the end. */
interface Said {
  readonly promptSaid: Relayed['promptSaid'];
  readonly usageSaid: Relayed['usageSaid'];
}

/** Relays one answer until it is over. */
export class StreamPump {
  readonly #pumped: Pumped;
  readonly #head = new StreamHead();
  readonly #over = Promise.withResolvers<void>();
  readonly #beganTick = performance.now();
  #firstByteAt = 0;
  #overheadMs = 0;
  #cut: unknown;
  #isLeftOut = false;

  constructor(pumped: Pumped) {
    this.#pumped = pumped;
  }

  async run(): Promise<PumpResult> {
    const { answer, attempt, filter, deps } = this.#pumped;
    await this.#untilOver();
    if (filter.hasUsageDecreased || answer.hasUsageDecreased) noteDecrease(attempt, deps);
    const wasLeft = attempt.call.signal.aborted && !attempt.isLeft;
    const said = this.#said();
    if (this.#isLeftOut) return this.#leftOut(said, wasLeft);
    if (this.#firstByteAt === 0) this.#openAtLast();
    if (this.#firstByteAt === 0) return this.#notBegun(said);
    return this.#relayed(said, wasLeft);
  }

  async #untilOver(): Promise<void> {
    const { answer, filter } = this.#pumped;
    const pumped = answer
      .pump((chunk) => {
        const arrivedTick = performance.now();
        this.#head.keep(chunk);
        return andThen(filter.push(chunk), (passed) => this.#passOn(passed, arrivedTick));
      }, this.#onTooLarge)
      .then(() => andThen(filter.end(), (passed) => this.#passOn(passed, performance.now())))
      .catch((error: unknown) => {
        this.#cut = error;
      });
    // Whoever has announced the end need not close as well: some providers keep the connection for minutes.
    void pumped.then(this.#over.resolve);
    await this.#over.promise;
    // Some tell of their usage behind the error, or behind the end.
    const isUntold = !filter.isInvalid && (filter.error !== undefined || filter.usage === undefined);
    if (isUntold && !this.#cut) await Promise.race([pumped, delay(BEHIND_END_MS, undefined, { ref: false })]);
    if (filter.error || filter.isInvalid || this.#cut) answer.abort();
  }

  #passOn(passed: Buffer, arrivedTick: number): void | Promise<void> {
    const { filter } = this.#pumped;
    if (filter.isTooLarge && !filter.isInvalid) this.#onTooLarge();
    const passing = this.#pass(passed, arrivedTick);
    // What came before it is the client's.
    if (filter.isUnreadable) this.#leaveOut(unreadableProblem);
    return passing;
  }

  #pass(bytes: Buffer, arrivedTick: number): void | Promise<void> {
    const { filter, attempt, client, running } = this.#pumped;
    if (filter.isOver) this.#over.resolve();
    if (bytes.length === 0) return undefined;
    if (this.#firstByteAt === 0) this.#open(arrivedTick);
    this.#head.drop();
    if (attempt.isLeft) return undefined;
    const written = client.write(bytes);
    if (!written) return undefined;
    running.isBehind = true;
    return written.then(() => {
      running.isBehind = false;
    });
  }

  #open(arrivedTick: number): void {
    const { admission, attempt, client, deps, filter, journey } = this.#pumped;
    this.#firstByteAt = deps.clock.now();
    const waitedMs = journey.upstreamMs + arrivedTick - this.#beganTick;
    this.#overheadMs = performance.now() - admission.call.startedTick - waitedMs;
    if (attempt.isLeft) return;
    attempt.isOpen = true;
    if (!client.isAttached) return;
    const headers = { ...answerHeaders(admission, journey, this.#overheadMs, deps), ...knownCost(admission, journey.target, filter) };
    client.open(headers, filter.contentType);
  }

  readonly #onTooLarge = (): void => this.#leaveOut(tooLargeProblem);

  /** Asked again with every chunk from then on. */
  #leaveOut(problem: () => Problem): void {
    if (!this.#isLeftOut) this.#pumped.leaveOut(problem());
    this.#isLeftOut = true;
  }

  #said(): Said {
    const { answer, filter } = this.#pumped;
    const soFar = answer.usageSoFar?.();
    const promptSaid = readUsageSoFar(soFar) ?? filter.promptSaid;
    const leastSaid = promptSaid ?? leastUsage(soFar);
    return { promptSaid, usageSaid: leastSaid ? atLeast(filter.usageSaid, leastSaid) : filter.usageSaid };
  }

  #leftOut(said: Said, wasLeft: boolean): PumpResult {
    const { deps, filter, journey } = this.#pumped;
    const { form } = journey.target.dialect;
    const cut = this.#cut;
    if (cut && !(cut instanceof UpstreamCut)) throw cut;
    const usageFound =
      cut instanceof UpstreamCut && cut.found ? usageOfLarge(statedUsage(cut.found), form, journey.target.model) : undefined;
    const came = { filter, usageFound, ...said, firstByteAt: this.#firstByteAt || deps.clock.now(), overheadMs: this.#overheadMs };
    return { ok: true, brokeOff: filter.isUnreadable ?? false, value: { ...came, isComplete: false, isLeftOut: true, wasLeft } };
  }

  /** What is still kept back when the answer is over. */
  #openAtLast(): void {
    const { filter } = this.#pumped;
    // An answer of one piece.
    const isWhole = filter.isComplete && !filter.isInvalid && !this.#cut;
    // An error that says what was used is billed: no other may be asked.
    if (isWhole || (filter.error && isUsed(filter.usage))) this.#open(performance.now());
  }

  #notBegun({ usageSaid }: Said): UpstreamFault | Promise<UpstreamFault> {
    const { attempt, filter, journey } = this.#pumped;
    if (attempt.running.endedBy) return invalidAnswer('nobody waits for it', 'cancelled');
    if (filter.error) return faultOfFirstError(filter.error);
    const begun = { bytes: this.#head.bytes, said: usageSaid };
    if (this.#cut instanceof UpstreamCut) return faultOfCut(this.#cut, begun);
    return noAnswer(`the provider answered 200 with a body that is no stream of ${journey.target.dialect.endpoint}`, begun);
  }

  #relayed(said: Said, wasLeft: boolean): PumpResult {
    const { attempt, filter } = this.#pumped;
    const { endedBy } = attempt.running;
    if (this.#cut && !(this.#cut instanceof UpstreamCut)) throw this.#cut;
    // A finish reason stands before the usage: where nobody waited for that, and we have cut it, the provider bills more than what came.
    const nobodyWaited = endedBy === 'shutdown' || (endedBy !== undefined && attempt.call.signal.aborted);
    const isComplete = filter.isComplete && (filter.isOver || filter.usage !== undefined || !nobodyWaited);
    const came = { filter, usageFound: undefined, ...said, firstByteAt: this.#firstByteAt, overheadMs: this.#overheadMs };
    return { ok: true, brokeOff: !isComplete && !endedBy, value: { ...came, isComplete, isLeftOut: false, wasLeft } };
  }
}

/** What is priced by the request alone, speech by its characters, has its cost before its first byte. */
function knownCost(admission: Admission, target: Target, filter: StreamFilter): Record<string, string> {
  const { usage } = filter;
  return usage ? { 'x-cost-usd': formatUsd(paidCost(admission, target, usage)) } : {};
}
