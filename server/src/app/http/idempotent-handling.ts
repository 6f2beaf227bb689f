import type { Problem } from '../../kernel/problem.ts';
import type { Idempotency, IdempotentRequest } from '../idempotency.ts';
import type { Answer } from '../idempotency-seal.ts';
import { type ProblemAnswer, problemOf } from './problem-document.ts';

interface Work {
  readonly request: IdempotentRequest;
  /** Does the work; the answer must be complete, since it is what repeats will get. */
  run(): Promise<Answer>;
  /** How a refusal is answered. */
  toAnswer(problem: Problem): ProblemAnswer;
}

interface Outcome {
  readonly answer: Answer;
  readonly isReplay: boolean;
}

/**
 * Does the work once for each `Idempotency-Key`. Refusals are kept like answers, so that a repeat is told the same; bugs are not.
 * Input that fails validation never gets here: it may be corrected and sent again under the same key.
 */
export async function onceForKey(idempotency: Idempotency, { request, run, toAnswer }: Work): Promise<Outcome> {
  const begun = await idempotency.begin(request);
  if (begun.kind === 'replay') return { answer: begun.answer, isReplay: true };
  try {
    const answer = await run();
    await begun.complete(answer);
    return { answer, isReplay: false };
  } catch (thrown) {
    const { status, headers, body } = toAnswer(problemOf(thrown));
    await begun.complete({ status, headers, body: Buffer.from(JSON.stringify(body)) });
    throw thrown;
  }
}
