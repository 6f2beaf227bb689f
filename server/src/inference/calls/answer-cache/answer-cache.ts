import { createHmac } from 'node:crypto';
import type { InferenceEndpoint } from '@tallygate/contract';
import { hasExactNumbers } from '../../../kernel/exact-numbers.ts';
import type { Log } from '../../../kernel/log.ts';
import type { ContentKeys, Storing } from '../../stored-content/index.ts';
import { keyIdOf } from '../call.ts';
import type { Caller } from '../call-context.ts';
import type { InferenceHeaders } from '../headers.ts';
import type { Received } from '../operation.ts';
import { isRecord } from '../usage.ts';
import type { Work } from '../work.ts';
import type { CachedAnswers, CachePlace } from './cached-answers.ts';
import type { CallCache } from './call-cache.ts';
import { endsByItself } from './ends-by-itself.ts';

/** What a request is told apart by. */
export interface CacheableRequest {
  readonly work: Work;
  /** The path of its operation: streams and whole answers of one maker may have two. */
  readonly path: string;
  /** As it was read, checked. */
  readonly request: unknown;
  readonly received: Received;
  readonly caller: Caller;
  readonly headers: InferenceHeaders;
}

export interface AnswerCache {
  /** Undefined where the request is never answered out of it: it leaves something behind, or nothing may be kept for its account. */
  of(request: CacheableRequest): Promise<CallCache | undefined>;
}

interface AnswerCacheDeps {
  readonly answers: CachedAnswers;
  readonly content: Pick<ContentKeys, 'keyOf'>;
  readonly storing: Pick<Storing, 'isOn'>;
  readonly log: Log;
}

/** Longer requests are not told apart: writing one in its canonical form takes a hundredth of a second a megabyte. */
const MOST_REQUEST_BYTES = 1024 * 1024;
/** What is longer is not kept. */
const MOST_ANSWER_BYTES = 1024 * 1024;

const CACHED_ENDPOINTS: ReadonlySet<string> = new Set<InferenceEndpoint>([
  ...(['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/embeddings', '/v1/rerank', '/v1/messages'] as const),
  ...(['/v1beta/models:generateContent', '/v1beta/models:embedContent'] as const),
]);

/** Answers of equal requests of one API key, for those who ask for them with `X-Cache`. */
export function createAnswerCache({ answers, content, storing, log }: AnswerCacheDeps): AnswerCache {
  const orNothing = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      log.warn({ err: error }, `the cache of answers could not be ${what}`);
      return undefined;
    }
  };

  async function placeOf(request: CacheableRequest): Promise<CachePlace | undefined> {
    const { principal } = request.caller;
    const { accountId } = principal;
    if (!(await storing.isOn(accountId))) return undefined;
    const key = createHmac('sha256', await content.keyOf(accountId))
      .update('answer cache')
      .digest();
    const caller = keyIdOf(principal) ?? principal.userId;
    return { accountId, caller, digest: createHmac('sha256', key).update(canonicalRequest(request)).digest() };
  }

  return {
    async of(request) {
      const { cache: wish } = request.headers;
      if (!wish || !isRepeatable(request)) return undefined;
      // Two requests that differ would be one.
      if (!(await hasExactNumbers(request.received.bytes))) return undefined;
      const place = await orNothing('asked', () => placeOf(request));
      if (!place) return undefined;
      return {
        find: async () => (wish.isRead ? orNothing('read', () => answers.find(place, wish.maxAgeSeconds * 1000)) : undefined),
        async keep(answer) {
          if (!wish.isKept || answer.body.length > MOST_ANSWER_BYTES || !endsByItself(answer.body)) return;
          await orNothing('written', () => answers.keep(place, answer, wish.maxAgeSeconds * 1000));
        },
      };
    },
  };
}

/** Whether its answer is all that comes of it: nothing is stored, begun, or run by a provider beside the model. */
function isRepeatable({ work, request, received, headers }: CacheableRequest): boolean {
  const leavesSomething = work.keep ?? work.keepStream ?? work.later ?? work.outlivesHangUp ?? work.kind;
  const goesOn = isRecord(request) && (request['conversation'] ?? undefined) !== undefined;
  return (
    CACHED_ENDPOINTS.has(work.endpoint) &&
    received.bytes.length <= MOST_REQUEST_BYTES &&
    !(leavesSomething || goesOn || work.meters || work.isPassedOn) &&
    headers.sandboxFault === undefined
  );
}

/** Everything of a request that its answer depends on, in one order of names. */
const canonicalRequest = ({ path, request, received, headers }: CacheableRequest): string =>
  inOrder({
    ...{ path, request, params: received.params, betas: headers.betas, fallbackPolicy: headers.fallbackPolicy },
    query: [...(received.query ?? [])].filter(([name]) => name !== 'key').sort(),
  });

const inOrder = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
