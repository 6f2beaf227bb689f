import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../http/index.ts';
import type { Problem } from '../../kernel/problem.ts';
import { problemOf } from '../../kernel/problem-of.ts';
import type { Idempotency, IdempotentRequest } from '../idempotency.ts';
import type { Answer } from '../idempotency-seal.ts';
import { unreachable } from './access-control.ts';
import { validationProblem } from './validation.ts';

const LONGEST_KEY = 255;

interface Work {
  readonly request: IdempotentRequest;
  /** Does the work; the answer must be complete, since it is what repeats will get. */
  run(): Promise<Answer>;
  /** The answer to a refusal, which is stored as well. */
  refuse(problem: Problem): Answer | Promise<Answer>;
}

/**
 * Does the work once for each `Idempotency-Key`. Refusals are stored like answers, so that a repeat gets the same; bugs are not.
 * Input that fails validation never gets here: it may be corrected and sent again under the same key.
 *
 * @returns the answer, with `Idempotent-Replayed` where it is that of an earlier request
 */
export async function onceForKey(idempotency: Idempotency, { request, run, refuse }: Work): Promise<Answer> {
  const begun = await idempotency.begin(request).catch(unreachable('Idempotency keys cannot be looked up at the moment'));
  if (begun.kind === 'replay') {
    const { status, headers, body } = begun.answer;
    return { status, headers: { ...headers, 'idempotent-replayed': 'true' }, body };
  }
  const answer = await run().catch((thrown: unknown) => refuse(problemOf(thrown)));
  await begun.complete(answer);
  return answer;
}

/** @throws Problem `validation_failed` */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  if (key.length === 0 || key.length > LONGEST_KEY)
    throw validationProblem({
      header: { issues: [{ path: ['idempotency-key'], message: `must have 1 to ${LONGEST_KEY} characters`, code: 'invalid' }] },
    });
  return key;
}

/**
 * The caller and not the account: a replay can hold a secret, and another key of the account may be weaker. A user keeps their
 * scope across sessions, so that a repeat after a new login still meets its first answer.
 */
export function scopeOf(principal: Principal | undefined): string {
  if (!principal) return 'internal';
  if (principal.kind === 'management') return `management:${principal.managementKeyId}`;
  return principal.kind === 'key' ? `key:${principal.keyId}` : `user:${principal.userId}`;
}
