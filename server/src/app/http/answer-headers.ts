import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { CORS_HEADERS } from './cors.ts';

/** `api`: what the contract describes, and every refusal. `site`: pages for people and metrics, which no page of another origin reads. */
export type AnswerKind = 'api' | 'site';

type Headers = Readonly<Record<string, string>>;

export interface AnswerHeaders {
  /** From here on everything that is written to this response has the headers of its kind. The last call counts. */
  apply(res: ServerResponse, kind: AnswerKind, requestId: string): void;
  /** For answers that are written without a response: what the HTTP parser refuses. */
  readonly api: Headers;
}

/** A door that needs another value sets it: a page its own policy, what may be cached its `cache-control`. */
const EVERY_ANSWER: Headers = {
  'cache-control': 'no-store',
  // Nothing that is stored or quoted here becomes a page of this origin.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
const A_YEAR_SECONDS = 31_536_000;

/**
 * The one list of headers that every answer has, for every writer: node:http, Express, a stream, bytes or a page. They are added when the
 * head of an answer is written, and only where the door has not set them itself.
 *
 * @param isHttps whether clients reach the service over TLS: only then is HSTS sent
 */
export function createAnswerHeaders({ isHttps }: { isHttps: boolean }): AnswerHeaders {
  const every = isHttps ? { ...EVERY_ANSWER, 'strict-transport-security': `max-age=${A_YEAR_SECONDS}` } : EVERY_ANSWER;
  const api = { ...every, ...CORS_HEADERS };
  // Own properties: Express changes the prototype of a response.
  const writers = { api: writeHeadWith(api), site: writeHeadWith(every) };
  return {
    apply: (res, kind, requestId) => {
      Object.assign(res, { writeHead: writers[kind], [REQUEST_ID]: requestId });
    },
    api,
  };
}

const writeHead = ServerResponse.prototype.writeHead;

const REQUEST_ID = Symbol('request id');

function writeHeadWith(defaults: Headers): ServerResponse['writeHead'] {
  return function (this: ServerResponse & { [REQUEST_ID]?: string }, status: number, ...rest: unknown[]) {
    const given = rest.at(-1);
    if (Array.isArray(given)) throw new TypeError('Headers of an answer are given by name');
    const own = (typeof given === 'object' && given !== null ? given : {}) as OutgoingHttpHeaders;
    const alreadySet = this.getHeaderNames();
    // Names and values in turn, which Node writes as they are: no object with all of them is made for each answer.
    const headers: OutgoingHttpHeader[] = [];
    const add = (name: string, value: OutgoingHttpHeader | undefined) => {
      if (value !== undefined) headers.push(name, value);
    };
    for (const name in defaults) if (own[name] === undefined && !alreadySet.includes(name)) add(name, defaults[name]);
    for (const name in own) add(name, own[name]);
    if (own['x-request-id'] === undefined && !alreadySet.includes('x-request-id')) add('x-request-id', this[REQUEST_ID]);
    return writeHead.call(this, status, headers);
  } as ServerResponse['writeHead'];
}
