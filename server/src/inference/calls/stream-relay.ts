import { hash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { ERRORS } from '@tallygate/contract';
import type { UpstreamAnswer, UpstreamFault } from '../../adapters/upstream/port.ts';
import { usdForDisplay } from '../../kernel/money.ts';
import type { Problem } from '../../kernel/problem.ts';
import { problemOf } from '../../kernel/problem-of.ts';
import type { Admission } from './admission.ts';
import { keepAnswer } from './answer-cache/keep-answer.ts';
import { headersOf, type StreamError, type StreamFilter } from './answer-form.ts';
import type { Attempt, Journey, JourneySoFar } from './attempt.ts';
import { firstThatAnswers } from './attempts.ts';
import { ClientStream, type StreamReceiver } from './client-stream.ts';
import type { InferenceDeps } from './deps.ts';
import { SILENCE_MS } from './heartbeat.ts';
import { answerHeaders, keptCall, stoppedHeaders } from './response-headers.ts';
import type { RunningCall } from './running-calls.ts';
import type { Served } from './served.ts';
import { servedAt } from './service-tier.ts';
import { beginStoring, paidCost, settle } from './settlement.ts';
import { type PumpResult, StreamPump } from './stream-pump.ts';
import { isEstimated, type Relayed, usageOf } from './stream-usage.ts';
import { cutOutcome, settleUnanswered } from './unanswered.ts';
import { lateProblem } from './upstream-problem.ts';

const EMPTY = Buffer.alloc(0);
const BROKEN_OFF: StreamError = {
  message: 'The provider broke the stream off before its end. What was delivered has been charged; repeat the request.',
  type: 'server_error',
  code: 'upstream_failed',
};

const STOPPED: StreamError = {
  message: 'The gateway stopped before the stream had ended. What the provider may bill for it is charged.',
  type: 'server_error',
  code: 'store_unavailable',
};

/** An attempt, and the journey when it answered. */
interface Asked {
  readonly attempt: Attempt;
  readonly journey: JourneySoFar;
}

/** One stream on its way, as far as its parts have to know of each other. */
interface Relay {
  readonly admission: Admission;
  readonly running: RunningCall;
  readonly client: ClientStream;
  /** Of the attempt that is being relayed. */
  filter: StreamFilter | undefined;
  /** What the client was told in place of the answer before that had ended, and the SHA-256 of all that it was sent, hex. */
  told: { readonly error: StreamError; readonly sha256: string } | undefined;
}

/**
 * A streamed answer: bytes through, and before the last event leaves, the money is settled. A client that hangs up, or whose run ends,
 * gets nothing more; the answer is read on, because the provider bills it.
 */
export async function relayStream(admission: Admission, running: RunningCall, res: StreamReceiver, deps: InferenceDeps): Promise<Served> {
  const { call } = admission;
  const client = new ClientStream(res, { keepsSent: call.work.keepStream !== undefined || call.cache !== undefined });
  const relay: Relay = { admission, running, client, filter: undefined, told: undefined };
  const stopBeating = deps.heartbeat.start(() => client.ping(SILENCE_MS));
  const onLeft = () => leave(relay, deps);
  if (call.signal.aborted) onLeft();
  else call.signal.addEventListener('abort', onLeft);
  try {
    const journey = await firstThatAnswers<Relayed>(admission, running, deps, {
      read: (answer, sofar, attempt) => pump(answer, sofar, attempt, relay, deps),
      billOf: async (relayed, attempt) => ({
        usage: await usageOf(relayed, attempt, admission, deps),
        estimated: isEstimated(relayed, attempt),
      }),
      late: (fault, sofar) => tellLate(relay, fault, sofar, deps),
    });
    const { result } = journey;
    if (result.ok) {
      const target = servedAt(journey.target, result.value.filter.serviceTier);
      return await settleRelayed(relay, { ...journey, target, relayed: result.value }, stopBeating, deps);
    }
    const { served, reply } = await settleUnanswered(admission, running, journey, result, deps);
    if (client.isAttached) client.refuse(reply);
    return served;
  } catch (error) {
    // The last that a stream says which has begun is what went wrong.
    if (client.isOpen && client.isAttached) client.breakOff(relay.filter?.errorBytes(streamErrorOf(problemOf(error))));
    throw error;
  } finally {
    stopBeating();
    call.signal.removeEventListener('abort', onLeft);
  }
}

/** The client has hung up, or its run has ended: then it is told so, at once. */
function leave(relay: Relay, deps: InferenceDeps): void {
  const { admission, running, client } = relay;
  if (running.isDecided) return;
  const stopped = admission.call.run?.stopped;
  if (stopped && client.isAttached) tell(relay, stopped, stoppedHeaders(admission, deps), deps);
  else client.detach();
}

/** The provider is late, and no other is asked: the client is told so, unless it has left. */
function tellLate(relay: Relay, fault: UpstreamFault, journey: JourneySoFar, deps: InferenceDeps): void {
  const { admission, running, client } = relay;
  const { call } = admission;
  if (call.signal.aborted || !client.isAttached) return;
  const overheadMs = performance.now() - call.startedTick - journey.upstreamMs;
  running.giveUp(tell(relay, lateProblem(fault), answerHeaders(admission, journey, overheadMs, deps), deps));
}

/** The rest of the answer cannot be passed on: the client is told so, and it is read on for its bill. */
function tellLeftOut(relay: Relay, problem: Problem, { attempt: { isLeft }, journey }: Asked, deps: InferenceDeps): void {
  const { admission, running, client } = relay;
  // Its own time is running.
  if (isLeft) return;
  // What was left out can't be counted.
  running.isBehind = true;
  if (!client.isAttached) return;
  const overheadMs = performance.now() - admission.call.startedTick - journey.upstreamMs;
  running.giveUp(tell(relay, problem, answerHeaders(admission, journey, overheadMs, deps), deps));
}

/** Tells the client in place of the rest of the answer what has ended it. Returns what it was sent. */
function tell(relay: Relay, problem: Problem, headers: OutgoingHttpHeaders, deps: InferenceDeps): Buffer {
  const { admission, client, filter } = relay;
  const error = streamErrorOf(problem);
  if (client.isOpen && filter) {
    const bytes = filter.errorBytes(error);
    relay.told = { error, sha256: client.digestWith(bytes ?? EMPTY) };
    client.breakOff(bytes);
    return bytes ?? EMPTY;
  }
  const reply = deps.problemReply(problem, admission.call);
  relay.told = { error, sha256: hash('sha256', reply.body, 'hex') };
  client.refuse({ ...reply, headers: { ...headers, ...reply.headers } });
  return reply.body;
}

async function settleRelayed(
  relay: Relay,
  { relayed, ...journey }: Omit<Journey<unknown>, 'result'> & { readonly relayed: Relayed },
  stopBeating: () => void,
  deps: InferenceDeps,
): Promise<Served> {
  const { admission, running, client } = relay;
  const { call } = admission;
  const { filter, isComplete, firstByteAt, overheadMs } = relayed;
  running.isDecided = true;
  const hasLeft = call.signal.aborted || running.isGivenUp;
  const isWhole = isComplete && !hasLeft;
  // What is small is there at once: to wait for it would cost more than it does.
  const counting = usageOf(relayed, { target: journey.target, running }, admission, deps);
  const usage = counting instanceof Promise ? await counting : counting;
  const shown = { usage, costUsd: usdForDisplay(paidCost(admission, journey.target, usage)) };
  const error = errorOf(relay, relayed);
  const ending = isWhole ? filter.lastBytes(shown) : hasLeft ? undefined : filter.errorBytes(error);
  const last = ending instanceof Promise ? await ending : ending;
  // A ping from here on would stand in no digest.
  stopBeating();
  const digesting = relay.told?.sha256 ?? client.digestWithLarge(last ?? EMPTY);
  const responseSha256 = digesting instanceof Promise ? await digesting : digesting;
  const served: Served = {
    outcome: isWhole ? 'completed' : hasLeft || running.endedBy ? cutOutcome(call, running) : 'cut',
    usage,
    estimated: isEstimated(relayed, { target: journey.target, running }),
    responseSha256,
    firstByteAt,
    completedAt: deps.clock.now(),
    overheadMs,
    ...journey,
  };
  const { work } = call;
  if (work.keepStream || (isWhole && work.keep)) await beginStoring(admission, served, deps);
  if (work.keepStream) {
    const hasHungUp = hasLeft && !relay.told;
    const told = isWhole
      ? { events: client.sentWith(last ?? EMPTY), isComplete: true, value: filter.value, error: undefined }
      : { events: client.sentWith(EMPTY), isComplete: false, value: undefined, error: hasHungUp ? undefined : error };
    const kept = work.keepStream(told, shown, served, call);
    // What was delivered of one that broke off is charged, whether or not it can be kept.
    await (isWhole ? kept : kept.catch((error: unknown) => deps.log.warn({ err: error }, 'a stream that broke off could not be kept')));
  } else if (isWhole) await work.keep?.(filter.value, shown, served, keptCall(admission, journey.target, deps));
  const settling = settle(admission, served, deps);
  if (settling instanceof Promise) await settling;
  if (call.cache && isWhole) await keepAnswer(call, served, { contentType: filter.contentType, body: client.sentWith(last ?? EMPTY) });
  if (isWhole) client.end(last ?? EMPTY);
  else if (client.isAttached) client.breakOff(last);
  return served;
}

function errorOf({ admission, running, told }: Relay, { filter }: Relayed): StreamError {
  const stopped = admission.call.run?.stopped;
  return told?.error ?? filter.error ?? (stopped && streamErrorOf(stopped)) ?? (running.endedBy === 'shutdown' ? STOPPED : BROKEN_OFF);
}

const streamErrorOf = ({ message, code }: Problem): StreamError => ({ message, type: ERRORS[code].type, code });

function pump(answer: UpstreamAnswer, journey: JourneySoFar, attempt: Attempt, relay: Relay, deps: InferenceDeps): Promise<PumpResult> {
  const { admission, running, client } = relay;
  const filter = journey.target.dialect.form.openStream(answer.contentType, headersOf(answer));
  if (!attempt.isLeft) relay.filter = filter;
  const leaveOut = (problem: Problem) => tellLeftOut(relay, problem, { attempt, journey }, deps);
  return new StreamPump({ answer, filter, journey, attempt, admission, running, client, deps, leaveOut }).run();
}
