import { Problem } from '../../kernel/problem.ts';
import { readJson } from '../../kernel/read-json.ts';
import { asStep, type Call, type Caller, completeShare, type Operation, requireEndpoint } from '../calls/index.ts';
import { type BatchHolds, HoldLost } from './batch-hold.ts';
import { callOf, headersOf, outputLine, workOfLine } from './batch-line.ts';
import type { BatchLines, WaitingLine } from './batch-lines.ts';
import type { BatchDeps } from './deps.ts';
import type { Stop } from './stop.ts';
import type { StoredBatch } from './stored-batch.ts';

/** With the pauses between them about an hour. A provider's rate limit is waited for as long as the batch has. */
const MOST_TRIES = 14;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 600_000;
const LONGEST_RATE_PAUSE_MS = 60_000;

interface Running {
  readonly batch: StoredBatch;
  readonly operation: Operation;
  /** The creator of the batch, with their present rights. */
  readonly caller: () => Caller;
  readonly stop: Stop;
}

interface RunDeps extends Pick<BatchDeps, 'inference' | 'linesAtOnce'> {
  readonly lines: BatchLines;
  readonly holds: BatchHolds;
}

/** Runs every line that has no answer, a few at a time, until all are done or it is told to stop. */
export async function runLines(running: Running, deps: RunDeps): Promise<void> {
  const waiting = deps.lines.waiting(running.batch.id);
  const { stop } = running;
  const work = async () => {
    while (!stop.noMore.aborted) {
      const { value: line, done } = await waiting.next();
      if (done) return;
      await runLine(line, running, deps);
    }
  };
  const workers = Array.from({ length: deps.linesAtOnce }, () =>
    work().catch((error: unknown) => {
      // A store that fails one line fails the others too: the batch rests until somebody takes it up again. What runs already may end where
      // its answer can be kept.
      if (error instanceof HoldLost) stop.begin('shutdown');
      else stop.now('shutdown');
      throw error;
    }),
  );
  const failed = (await Promise.allSettled(workers)).find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  await deps.lines.markSettled(running.batch.id);
}

async function runLine(line: WaitingLine, running: Running, deps: RunDeps): Promise<void> {
  const { batch, caller, stop } = running;
  const entering = { grant: caller(), headers: headersOf(batch), startedAt: deps.inference.clock.now(), signal: stop.abandon };
  try {
    // One call of its agent run, however often it is tried.
    if (batch.runId === null) await untilAnswered(line, entering, running, deps);
    else await asStep(entering, deps.inference, (inRun) => untilAnswered(line, inRun, running, deps));
  } catch (thrown) {
    // What fails over the gateway itself is no answer to the line.
    if (!(thrown instanceof Problem) || (thrown.status >= 500 && thrown.code !== 'no_provider_configured')) throw thrown;
    const { status, body } = deps.inference.problemReply(thrown, {
      requestId: line.requestId,
      clientRequestId: null,
      surface: running.operation.metadata.surface,
    });
    await deps.lines.refused(batch.id, line.number, outputLine({ ...line, receiptId: null }, { status, body }));
  }
}

type Place = Pick<Call, 'signal' | 'run'>;

async function untilAnswered(line: WaitingLine, place: Place, running: Running, deps: RunDeps): Promise<void> {
  const { stop } = running;
  for (let tries = 1; !stop.noMore.aborted; tries += 1) {
    if (place.run?.stopped) throw place.run.stopped;
    const fault = await tryLine(line, { ...place, isLastTry: tries >= MOST_TRIES }, running, deps);
    if (!fault || stop.abandon.aborted) return;
    // What waits for room takes no try away from what fails.
    const isRate = fault.kind === 'rate_limited';
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), isRate ? LONGEST_RATE_PAUSE_MS : LONGEST_PAUSE_MS);
    await stop.pause(Math.max(pause, fault.retryAfterMs ?? 0));
    if (isRate) tries = Math.min(tries, MOST_TRIES / 2);
  }
}

async function tryLine(line: WaitingLine, { signal, run, isLastTry }: Place & { isLastTry: boolean }, running: Running, deps: RunDeps) {
  const { batch, operation, caller } = running;
  const who = caller();
  // The key may have been narrowed since.
  requireEndpoint(who, operation.endpoint);
  const work = await workOfLine({ bytes: line.body, value: await readJson(line.body) }, operation, who);
  const call = callOf({ batch, caller: who, work, ids: line, signal, run, surface: operation.metadata.surface });
  const share = deps.holds.shareOf(batch, line);
  return completeShare(call, { reserved: line.reserved.amount, share, isLastTry }, deps.inference);
}
