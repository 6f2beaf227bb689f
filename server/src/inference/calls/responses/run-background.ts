import { finished } from 'node:stream/promises';
import type { RequestAttempt } from '@tallygate/contract';
import { newReceiptId } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { admit } from '../admission.ts';
import type { Call } from '../call.ts';
import type { CallContext, Caller, KeptCall } from '../call-context.ts';
import type { StandingOf } from '../caller-status.ts';
import type { InferenceDeps } from '../deps.ts';
import { jsonObjectOf } from '../json-answer.ts';
import { completeCall, streamTo } from '../serve.ts';
import type { Served } from '../served.ts';
import { settle } from '../settlement.ts';
import { isRecord } from '../usage.ts';
import type { Work } from '../work.ts';
import { type BackgroundRequest, headersOf } from './background-request.ts';
import { type BackgroundResponses, failureOf, type Task } from './background-responses.ts';
import { EventRecorder } from './event-recorder.ts';
import { prepare, type ResponseDeps } from './prepared-response.ts';
import { finalEvent } from './replay.ts';
import { appendTurn, workOf } from './response-operation.ts';
import { type Json, outputOf } from './stored-responses.ts';

export interface BackgroundDeps extends ResponseDeps {
  readonly inference: InferenceDeps;
  readonly callerStatusOf: StandingOf;
  /** Whether a call of the request is settled, under that receipt where one is given; also one that is not in the ledger yet. */
  readonly isSettled: (requestId: string, receiptId?: string) => Promise<boolean>;
}

/** A cancelled call ends within a second. */
const BEAT_MS = 500;
/** Money that others hold, a store that cannot be reached: worth another try for so long. */
const PATIENCE_MS = 30 * 60_000;
const RETRY_MS = 5_000;

/**
 * Does what a background response asks for, in the name of the caller. It may be called for the same response any number of times, by
 * any process: one at a time has it to itself, and one that dies leaves it to the next.
 *
 * It is charged once: hold, request and receipt have the ids that were drawn at its creation. The result is stored together with what is
 * to be settled, then settled, then closed. A worker that dies before the result is stored has settled nothing: the next one asks the
 * provider again. One that dies after it leaves a result without a settlement, which the next one makes up for without asking anybody; if
 * it was made already, the ledger has it, and takes no second under the same request.
 */
export async function runBackground(id: string, deps: BackgroundDeps): Promise<void> {
  const { background } = deps;
  const task = await background.claim(id);
  if (!task) return;
  const stop = new AbortController();
  const beat = setInterval(() => {
    void background.renew(task).then(
      (goesOn) => goesOn || stop.abort(),
      // One beat that fails does no harm: the lease lasts for many.
      () => {},
    );
  }, BEAT_MS);
  try {
    await serve(task, stop.signal, deps);
    await tellCancelled(task, deps);
    await background.close(task);
  } catch (thrown) {
    if (!(thrown instanceof Problem) || !isPassing(thrown, task.request, deps)) throw thrown;
    await background.release(task, RETRY_MS);
  } finally {
    clearInterval(beat);
  }
}

const isPassing = ({ status }: Problem, { startedAt }: BackgroundRequest, { clock }: BackgroundDeps): boolean =>
  (status === 429 || status >= 500) && clock.now() < startedAt + PATIENCE_MS;

async function serve(task: Task, signal: AbortSignal, deps: BackgroundDeps): Promise<void> {
  const { outcome } = task;
  if (task.isCancelled && !outcome) return;
  const backgroundRequest = task.request;
  const { session } = backgroundRequest;
  const { state, caller } = await deps.callerStatusOf({
    ...task.owner,
    ...{ keyId: task.keyId, userId: session?.userId ?? null, sessionId: session?.id ?? null },
  });
  if (outcome && (await settleHold(backgroundRequest, outcome, deps))) return conclude(task, deps);
  if (state !== 'good' && !outcome) return fail(task, NO_LONGER, undefined, deps);
  let work: Work;
  try {
    work = await workOfTask(task, backgroundRequest, caller, deps);
  } catch (thrown) {
    if (!(thrown instanceof Problem) || isPassing(thrown, backgroundRequest, deps)) throw thrown;
    return fail(task, failureOf(thrown), undefined, deps);
  }
  const place = { caller, work, signal };
  if (outcome) {
    const { receiptId, attemptsBefore } = placeOf(outcome);
    await settleAnew({ ...callOf({ ...backgroundRequest, receiptId }, place, deps), attemptsBefore }, outcome, deps.inference);
    return conclude(task, deps);
  }
  let promise: string | undefined;
  const keepPromise = (given: string): void => {
    promise = given;
  };
  const call = await afterEarlierRuns(task, { ...callOf(backgroundRequest, place, deps), keepPromise }, deps);
  try {
    await (work.isStream ? stream(task, call, deps) : complete(task, call, deps));
  } catch (thrown) {
    if (!(thrown instanceof Problem) || isPassing(thrown, backgroundRequest, deps)) throw thrown;
    await fail(task, failureOf(thrown), undefined, deps);
  } finally {
    // Also of what is tried again: a failed try has a receipt too.
    if (promise !== undefined) await deps.background.keepPromise(task, promise);
  }
}

const NO_LONGER = { code: 'server_error', message: 'The API key or the session that asked for the response may do so no longer.' };

/** More attempts than one run of a response has. */
const ATTEMPTS_A_RUN = 100;

/**
 * A run that died while a provider was at work is charged at its hold. The next one asks again: a call of its own, with a receipt of its own
 * under the same request.
 */
async function afterEarlierRuns(task: Task, call: Call, { inference, isSettled }: BackgroundDeps): Promise<Call> {
  // What died without asking anybody is released, and may be held again under its name.
  const wasInFlight = await inference.lanes.abandon(call.receiptId);
  if (!wasInFlight && !(await isSettled(call.requestId))) return call;
  return { ...call, receiptId: newReceiptId(call.startedAt), attemptsBefore: (task.run - 1) * ATTEMPTS_A_RUN };
}

async function workOfTask(task: Task, { request: rest, requestSha256 }: BackgroundRequest, caller: Caller, deps: BackgroundDeps) {
  const request = { ...rest, input: [...task.input] };
  const prepared = await prepare(request, caller, task.id, deps);
  const save = (response: Json, served: Served, call: KeptCall) =>
    deps.background.finish(task, { response, outcome: outcomeOf(served, call), receiptPromise: call.promise() ?? null });
  return workOf(request, prepared, () => requestSha256, deps, save);
}

const callOf = (
  backgroundRequest: BackgroundRequest,
  { caller, work, signal }: { caller: Caller; work: Work; signal: AbortSignal },
  { clock }: BackgroundDeps,
): Call => ({
  requestId: backgroundRequest.requestId,
  clientRequestId: backgroundRequest.clientRequestId,
  receiptId: backgroundRequest.receiptId,
  // What counts is when it is done: its month, its price.
  startedAt: clock.now(),
  startedTick: performance.now(),
  grant: caller,
  headers: headersOf(backgroundRequest),
  work,
  clientSignature: backgroundRequest.clientSignature,
  signal,
});

async function complete(task: Task, call: Call, deps: BackgroundDeps): Promise<void> {
  const { status, body } = await completeCall(call, deps.inference);
  // One that was cancelled has no body, and cannot fail any more.
  if (status !== 200) await fail(task, failureOf(await jsonObjectOf(body)), undefined, deps);
}

async function stream(task: Task, call: Call, deps: BackgroundDeps): Promise<void> {
  const recorder = new EventRecorder((events) => deps.background.addEvents(task, events));
  // Its failure is awaited below; until then nobody else may trip over it.
  const recorded = finished(recorder);
  recorded.catch(() => {});
  await streamTo(call, recorder, deps.inference);
  if (!recorder.writableEnded && !recorder.destroyed) recorder.end();
  await recorded;
  const { refusal, error } = recorder;
  if (refusal) await fail(task, failureOf(refusal), recorder.nextSequence, deps);
  else if (error) await fail(task, { code: 'server_error', message: String(error['message']) }, recorder.nextSequence, deps);
}

/** A client that follows a cancelled response is told so by its last event. */
async function tellCancelled(task: Task, { background }: BackgroundDeps): Promise<void> {
  if (task.request.request.stream !== true) return;
  const response = await background.cancelled(task);
  if (response) await tellEnd(task, response, undefined, background);
}

/** Its last event, behind all the others. */
async function tellEnd(task: Task, response: Json, sequence: number | undefined, background: BackgroundResponses): Promise<void> {
  const sequence_number = sequence ?? ((await background.lastEvent(task))?.sequence ?? -1) + 1;
  await background.addEvents(
    task,
    finalEvent(response).map((event) => ({ ...event, sequence_number })),
  );
}

/** Of one that was cancelled nothing is said here. */
async function fail(
  task: Task,
  failure: { readonly code: string; readonly message: string },
  sequence_number: number | undefined,
  { background }: BackgroundDeps,
): Promise<void> {
  const failed = await background.fail(task, failure);
  if (!failed || task.request.request.stream !== true) return;
  await tellEnd(task, failed, sequence_number, background);
}

/** What is settled for a result, as far as it can be written down: the target is found again by its name. */
const outcomeOf = ({ target, ...served }: Served, { receiptId, attemptsBefore = 0 }: CallContext): Json => ({
  receiptId,
  attemptsBefore,
  model: target.model.id,
  deployment: target.deployment.name,
  attempts: served.attempts,
  attempt: served.attempt,
  fallback: served.fallback,
  outcome: served.outcome,
  usage: served.usage,
  estimated: served.estimated,
  responseSha256: served.responseSha256,
  firstByteAt: served.firstByteAt,
  completedAt: served.completedAt,
  overheadMs: served.overheadMs,
});

/**
 * Settles a result whose worker did not live to do so. Its hold was begun with what the result comes to before that was stored, and is settled
 * at it whatever the caller may do or spend by now: the provider has billed it. False where there is no such hold any more.
 */
async function settleHold({ requestId }: BackgroundRequest, outcome: Json, { inference, isSettled }: BackgroundDeps): Promise<boolean> {
  const { receiptId } = placeOf(outcome);
  return (await isSettled(requestId, receiptId)) || (await inference.lanes.abandon(receiptId));
}

/** The lanes have lost the hold. */
async function settleAnew(call: Call, outcome: Json, inference: InferenceDeps): Promise<void> {
  const admission = await admit(call, inference);
  const [first] = admission.targets;
  const target =
    admission.targets.find(({ model, deployment }) => model.id === outcome['model'] && deployment.name === outcome['deployment']) ?? first;
  if (!target) throw new Error('An admission has at least one target');
  await settle(admission, { ...servedOf(outcome), target }, inference);
}

/** What follows the settlement of a result. */
async function conclude(task: Task, { background, conversations }: BackgroundDeps): Promise<void> {
  if (task.conversationId !== null)
    await appendTurn(task.owner, task.conversationId, [...task.input, ...outputOf(task.response)], conversations);
  const last = await background.lastEvent(task);
  if (!last || /^response\.(completed|incomplete)$/.test(String(last.event['type']))) return;
  await tellEnd(task, task.response, last.sequence + 1, background);
}

/** Under which ids the result is settled. Written by `outcomeOf` of this file, and by nobody else. */
const placeOf = (outcome: Json) => outcome as unknown as { readonly receiptId: string; readonly attemptsBefore: number };

function servedOf(outcome: Json): Omit<Served, 'target'> {
  if (!isRecord(outcome['usage'])) throw new Error('The outcome of a background response cannot be read');
  // Written by `outcomeOf` of this file, and by nobody else.
  const {
    model: _,
    deployment: __,
    receiptId: ___,
    attemptsBefore: ____,
    ...served
  } = outcome as unknown as Omit<Served, 'target'> & {
    readonly model: string;
    readonly deployment: string;
    readonly receiptId: string;
    readonly attemptsBefore: number;
    readonly attempts: readonly RequestAttempt[];
  };
  return served;
}
