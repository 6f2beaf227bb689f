import { ERRORS } from '@tallygate/contract';
import { type UpstreamAnswer, UpstreamCut, type UpstreamFault } from '../adapters/upstream/port.ts';
import { formatUsd, usdForDisplay } from '../kernel/money.ts';
import type { Admission } from './admission.ts';
import type { StreamError, StreamFilter } from './answer-form.ts';
import { faultOfCut, firstThatAnswers, invalidAnswer, type Journey } from './attempts.ts';
import { ClientStream, type StreamReceiver } from './client-stream.ts';
import type { Target } from './deployments.ts';
import type { InferenceDeps } from './deps.ts';
import { SILENCE_MS } from './heartbeat.ts';
import { answerHeaders } from './response-headers.ts';
import { costOfUsage, ourCount, renewHold, type Served, settle } from './settlement.ts';
import { settleUnanswered } from './unanswered.ts';
import { withPromptOf } from './usage.ts';

/** A stream that has reached the client, up to but not including its last event. */
interface Relayed {
  readonly filter: StreamFilter;
  readonly ending: 'completed' | 'cancelled' | 'cut';
  /** What the provider said of its usage before its stream was cut. */
  readonly usageSoFar: unknown;
  readonly firstByteAt: number;
  readonly overheadMs: number;
}

const EMPTY = Buffer.alloc(0);

const BROKEN_OFF: StreamError = {
  message: 'The provider broke the stream off before its end. What was delivered has been charged; repeat the request.',
  type: 'server_error',
  code: 'upstream_failed',
};

/** A streamed answer: bytes through, and before the last event leaves, the money is settled. */
export async function relayStream(admission: Admission, res: StreamReceiver, deps: InferenceDeps): Promise<Served> {
  const { work } = admission.call;
  const client = new ClientStream(res, { keepsSent: work.keepStream !== undefined });
  const stopBeating = deps.heartbeat.start(() => {
    client.ping(SILENCE_MS);
    renewHold(admission, deps);
  });
  try {
    const journey = await firstThatAnswers<Relayed>(admission, deps, (answer, sofar) => pump(answer, sofar, admission, client, deps));
    const { result, target } = journey;
    if (!result.ok) {
      const { served, reply } = await settleUnanswered(admission, journey, result, deps);
      res.writeHead(reply.status, reply.headers).end(reply.body);
      return served;
    }

    const { filter, ending, usageSoFar, firstByteAt, overheadMs } = result.value;
    const usage = filter.usage ?? withPromptOf(usageSoFar, await ourCount(admission, target, filter.delivered(), deps));
    const cost = costOfUsage(admission, target, usage).nanoUsd;
    const shown = { usage, costUsd: usdForDisplay(cost) };
    const isComplete = ending === 'completed';
    const stopped = stopOf(admission);
    const error = filter.error ?? stopped ?? BROKEN_OFF;
    const last = isComplete ? filter.lastBytes(shown) : filter.errorBytes(error);
    // A ping from here on would stand in no digest.
    stopBeating();
    const served: Served = {
      ...journey,
      outcome: ending,
      usage,
      estimated: filter.usage === undefined,
      responseSha256: client.digestWith(ending === 'cancelled' && !stopped ? Buffer.alloc(0) : last),
      firstByteAt,
      completedAt: deps.clock.now(),
      overheadMs,
    };
    if (work.keepStream) {
      const hasHungUp = ending === 'cancelled' && !stopped;
      const told = isComplete
        ? { events: client.sentWith(last), isComplete, value: filter.value, error: undefined }
        : { events: client.sentWith(EMPTY), isComplete, value: undefined, error: hasHungUp ? undefined : error };
      const kept = work.keepStream(told, shown, served, admission.call);
      // What was delivered of one that broke off is charged, whether or not it can be kept.
      await (isComplete
        ? kept
        : kept.catch((error: unknown) => deps.log.warn({ err: error }, 'a stream that broke off could not be kept')));
    } else if (isComplete) await work.keep?.(filter.value, shown, served, admission.call);
    await settle(admission, served, deps.lanes);
    if (isComplete || client.takesErrors) client.end(last);
    else client.cut();
    return served;
  } finally {
    stopBeating();
  }
}

/** What is said in a stream whose run has ended. */
function stopOf({ call }: Admission): StreamError | undefined {
  const stopped = call.run?.stopped;
  return stopped && { message: stopped.message, type: ERRORS[stopped.code].type, code: stopped.code };
}

/** What is priced by the request alone, speech by its characters, has its cost before its first byte. */
function knownCost(admission: Admission, target: Target, filter: StreamFilter): Record<string, string> {
  const { usage } = filter;
  return usage ? { 'x-cost-usd': formatUsd(costOfUsage(admission, target, usage).nanoUsd) } : {};
}

/** Relays until the stream is over. What fails before the first byte has reached the client is a fault: the next target may try. */
async function pump(
  answer: UpstreamAnswer,
  journey: Omit<Journey<Relayed>, 'result'>,
  admission: Admission,
  client: ClientStream,
  deps: InferenceDeps,
): Promise<{ ok: true; value: Relayed; brokeOff: boolean } | UpstreamFault> {
  const filter = journey.target.dialect.form.openStream(answer.contentType);
  const over = Promise.withResolvers<void>();
  let firstByteAt = 0;
  let overheadMs = 0;
  const beganTick = performance.now();
  const open = (arrivedTick: number): void => {
    firstByteAt = deps.clock.now();
    const waitedMs = journey.upstreamMs + arrivedTick - beganTick;
    overheadMs = performance.now() - admission.call.startedTick - waitedMs;
    client.open({ ...answerHeaders(admission, journey, overheadMs), ...knownCost(admission, journey.target, filter) }, filter.contentType);
  };
  const relay = (bytes: Buffer, arrivedTick: number): void | Promise<void> => {
    if (filter.isOver) over.resolve();
    if (bytes.length === 0) return undefined;
    if (!client.isOpen) open(arrivedTick);
    return client.write(bytes);
  };

  let cut: unknown;
  const pumped = answer
    .pump((chunk) => {
      const arrivedTick = performance.now();
      return relay(filter.push(chunk), arrivedTick);
    })
    .then(() => relay(filter.end(), performance.now()))
    .catch((error: unknown) => {
      cut = error;
    });
  // Back-pressure of a client that reads slowly must not keep a run going that has ended.
  admission.call.run?.signal.addEventListener('abort', () => over.resolve(), { once: true });
  // Whoever has announced the end need not close as well: some providers keep the connection for minutes.
  await Promise.race([pumped, over.promise]);
  const isCancelled = admission.call.signal.aborted;
  if (filter.error || filter.isInvalid || cut || isCancelled) answer.abort();

  // An answer of one piece, which is still kept back.
  if (!client.isOpen && filter.isComplete && !filter.isInvalid && !isCancelled && !cut) open(performance.now());
  if (!client.isOpen) {
    if (isCancelled) return invalidAnswer('the client hung up', 'cancelled');
    if (filter.error) return invalidAnswer(filter.error.message);
    if (cut instanceof UpstreamCut) return faultOfCut(cut);
    return invalidAnswer(`the provider answered 200 with a body that is no stream of ${journey.target.dialect.endpoint}`);
  }
  if (cut && !(cut instanceof UpstreamCut)) throw cut;
  const ending = isCancelled ? 'cancelled' : filter.isComplete ? 'completed' : 'cut';
  return { ok: true, brokeOff: ending === 'cut', value: { filter, ending, usageSoFar: answer.usageSoFar?.(), firstByteAt, overheadMs } };
}
