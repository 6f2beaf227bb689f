import type { ReceiptUsage } from '@tallygate/contract';
import { type UpstreamAnswer, UpstreamCut, type UpstreamFault } from '../../adapters/upstream/port.ts';
import { sha256Of } from '../../kernel/digest.ts';
import { isTooComplex } from '../../kernel/json-scan.ts';
import { formatUsd, usdForDisplay } from '../../kernel/money.ts';
import { andThen, type Soon } from '../../kernel/soon.ts';
import { statedUsage } from '../../kernel/stated-usage.ts';
import type { Admission } from './admission.ts';
import { agentRunHeaders } from './agent-run-headers.ts';
import { keepAnswer } from './answer-cache/keep-answer.ts';
import { headersOf, type PlainAnswer, type ShownCost } from './answer-form.ts';
import type { AnswerReader, Attempt, Journey, Used } from './attempt.ts';
import { faultOfCut, firstThatAnswers, noAnswer } from './attempts.ts';
import type { Target } from './deployments.ts';
import type { InferenceDeps } from './deps.ts';
import { LONGEST_PARSED } from './event-data.ts';
import { usageIn } from './large-chunk.ts';
import { withRepeatedUsage } from './repeated-usage.ts';
import type { Reply } from './reply.ts';
import { answerHeaders, keptCall } from './response-headers.ts';
import type { RunningCall } from './running-calls.ts';
import type { Served } from './served.ts';
import { servedAt } from './service-tier.ts';
import { beginStoring, mostUsage, ourCount, paidCost, settle } from './settlement.ts';
import { settleUnanswered, toldInstead } from './unanswered.ts';
import { tooLargeProblem } from './upstream-problem.ts';
import { atLeast, usageOfLarge, withPromptOf } from './usage.ts';

/** An answer that is larger is charged and not given: nobody could give many of them at a time. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/** A whole answer: collected, checked, priced, and settled before it is handed out. */
export async function relayPlain(
  admission: Admission,
  running: RunningCall,
  deps: InferenceDeps,
  late: AnswerReader<PlainAnswer>['late'],
): Promise<{ served: Served; reply: Reply }> {
  return settlePlain(admission, running, await askPlain(admission, running, deps, late), deps);
}

/** Asks the providers for a whole answer, and settles nothing. */
export const askPlain = (
  admission: Admission,
  running: RunningCall,
  deps: InferenceDeps,
  late: AnswerReader<PlainAnswer>['late'],
): Promise<Journey<PlainAnswer>> =>
  firstThatAnswers(admission, running, deps, {
    read: (answer, _, attempt) => collect(answer, attempt, running, deps.mostAnswerBytes),
    billOf: async (answer, { target }) => ({
      usage: await usageOf(answer, target, admission, deps),
      estimated: answer.usage === undefined,
    }),
    late,
  });

/** Settles what came of it, answer or fault. */
export async function settlePlain(
  admission: Admission,
  running: RunningCall,
  journey: Journey<PlainAnswer>,
  deps: InferenceDeps,
): Promise<{ served: Served; reply: Reply }> {
  const { result } = journey;
  if (!result.ok) return settleUnanswered(admission, running, journey, result, deps);

  running.isDecided = true;
  const { call } = admission;
  const isStopped = call.run?.stopped !== undefined;
  // What is kept for later is given to whoever asks for it then.
  const told = admission.share ? undefined : (running.told ?? toldInstead(call, deps));
  const answer = result.value;
  const target = servedAt(journey.target, answer.serviceTier);
  // What is small is there at once: to wait for it would cost more than it does.
  const counting = usageOf(answer, target, admission, deps);
  const usage = counting instanceof Promise ? await counting : counting;
  const cost = paidCost(admission, target, usage);
  const shown = { usage, costUsd: usdForDisplay(cost) };
  const replying = replyOf(answer, shown, admission, deps);
  const reply: Reply = replying instanceof Promise ? await replying : replying;
  const hashing = sha256Of(told ?? reply.body);
  const responseSha256 = hashing instanceof Promise ? await hashing : hashing;
  const overheadMs = performance.now() - call.startedTick - journey.upstreamMs;
  const now = deps.clock.now();
  const served: Served = {
    outcome: outcomeOf(answer, running, told !== undefined),
    usage,
    estimated: answer.usage === undefined,
    responseSha256,
    firstByteAt: now,
    completedAt: now,
    overheadMs,
    ...journey,
    target,
  };
  if (call.work.keep && !isStopped && !running.isGivenUp && !answer.isTooLarge) {
    await beginStoring(admission, served, deps);
    await call.work.keep(answer.value, shown, served, keptCall(admission, target, deps));
  }
  const settling = settle(admission, served, deps, { status: reply.status, body: reply.body });
  const settled = settling instanceof Promise ? await settling : settling;
  if (call.cache) await keepAnswer(call, served, { contentType: answer.contentType, body: reply.body });
  const headers = {
    ...answerHeaders(admission, journey, overheadMs, { promises: deps.promises, isSettled: true }),
    ...agentRunHeaders(settled.lanes),
    'x-cost-usd': formatUsd(cost),
    ...reply.headers,
  };
  return { served, reply: { ...reply, headers } };
}

function outcomeOf({ isTooLarge, hasFailed }: PlainAnswer, { isGivenUp }: RunningCall, wasToldInstead: boolean): Served['outcome'] {
  if (isGivenUp) return 'abandoned';
  if (wasToldInstead) return 'cancelled';
  if (isTooLarge) return 'abandoned';
  return hasFailed ? 'cut' : 'completed';
}

/**
 * The provider's count wins. Without it, all that was held is the cost of an answer that was not kept, since nothing of it can be counted, and
 * of one that nobody waited for: what its provider bills for it is not known. Never less than it says on either side.
 */
function usageOf(answer: PlainAnswer, target: Target, admission: Admission, deps: InferenceDeps): Soon<ReceiptUsage> {
  if (answer.usage) return answer.usage;
  const { usageSaid } = answer;
  if (answer.isTooLarge || admission.call.signal.aborted) return atLeast(usageSaid, mostUsage(admission, target));
  const counting = ourCount(admission, target, answer.delivered, deps);
  return counting.then((counted) => atLeast(usageSaid, withPromptOf(usageSaid, counted)));
}

function replyOf(answer: PlainAnswer, shown: ShownCost, { call }: Admission, deps: InferenceDeps): Soon<Reply> {
  if (answer.isTooLarge) return deps.problemReply(tooLargeProblem(), call);
  return andThen(answer.toBytes(shown), (body) => ({
    status: 200,
    headers: { 'content-type': answer.contentType, 'content-length': body.length },
    body,
  }));
}

async function collect(
  answer: UpstreamAnswer,
  attempt: Attempt,
  running: RunningCall,
  mostBytes = MOST_ANSWER_BYTES,
): Promise<Used<PlainAnswer> | UpstreamFault> {
  const { form, endpoint } = attempt.target.dialect;
  let isTooLarge = false;
  let bytes: Buffer;
  try {
    bytes = await answer.collect(mostBytes, () => {
      isTooLarge = true;
      // It might never end.
      if (!attempt.isLeft) running.giveUp(undefined);
    });
  } catch (error) {
    const isReadOn = isTooLarge && error instanceof UpstreamCut && (error.reason === 'too_large' || attempt.running.endedBy === 'deadline');
    return isReadOn
      ? { ok: true, value: tooLargeAnswer(usageOfLarge(statedUsage(error.found), form, attempt.target.model)) }
      : faultOfCut(error);
  }
  if (bytes.length > LONGEST_PARSED && (bytes[0] === OPEN_BRACE || isJson(answer.contentType)) && (await isTooComplex(bytes)))
    return { ok: true, value: tooLargeAnswer(usageOfLarge(await usageIn(bytes), form, attempt.target.model)) };
  const reading = andThen(form.read(bytes, answer.contentType, headersOf(answer)), (read) => read && withRepeatedUsage(bytes, read, form));
  const value: PlainAnswer | undefined = reading instanceof Promise ? await reading : reading;
  return value
    ? { ok: true, value, brokeOff: value.hasFailed ?? false }
    : noAnswer(`the provider answered 200 with a body that is no answer of ${endpoint}`, { bytes });
}

const OPEN_BRACE = 0x7b;
const isJson = (contentType: string | null): boolean => /^application\/json/i.test(contentType ?? '');

const tooLargeAnswer = (usage: ReceiptUsage | undefined): PlainAnswer => ({
  ...{ contentType: '', usage, delivered: { text: '', scale: 1 }, value: undefined, isTooLarge: true },
  toBytes: () => Buffer.alloc(0),
});
