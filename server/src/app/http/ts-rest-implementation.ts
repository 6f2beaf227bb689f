import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { AppRoute, ServerInferResponses } from '@ts-rest/core';
import { isSmall, writtenJson } from '../../kernel/written-json.ts';
import type { Idempotency } from '../idempotency.ts';
import type { Answer } from '../idempotency-seal.ts';
import type { AccessControl } from './access-control.ts';
import type { CheckedCall, Endpoint } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { idempotencyKeyOf, onceForKey, scopeOf } from './idempotent-handling.ts';
import type { Refusals } from './refusals.ts';
import { shownIdOf } from './request-ids.ts';

interface ImplementationDeps {
  readonly accessControl: AccessControl;
  readonly idempotency: Idempotency;
  readonly refusals: Refusals;
}

/** What is known of a request before ts-rest has it. */
interface Known extends Exchange {
  /** Where it comes from, proxies of ours left out. */
  readonly peerAddress: string | null;
  /** The body as received; empty where there is none. */
  readonly bytes: Buffer;
}

/** What ts-rest passes once the input matches the contract. */
interface TsRestInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body?: unknown;
  readonly req: IncomingMessage & { readonly originalUrl: string };
  readonly res: ServerResponse;
}

type TsRestAnswer = ServerInferResponses<AppRoute>;

const knownOf = new WeakMap<IncomingMessage, Known>();

/** Notes what the implementation of its endpoint will have to know of a request, which ts-rest does not pass on. */
export function note(known: Known): void {
  knownOf.set(known.req, known);
}

/** An endpoint as ts-rest calls it: the caller is added, and an `Idempotency-Key` is honoured where the contract declares one. */
export function createImplementation(endpoint: Endpoint, { accessControl, idempotency, refusals }: ImplementationDeps) {
  const takesIdempotencyKey = 'idempotency-key' in Object(endpoint.route.headers);

  return async (input: TsRestInput): Promise<TsRestAnswer> => {
    const known = knownOf.get(input.req);
    if (!known) throw new Error('The request did not come through the front');
    const key = takesIdempotencyKey ? idempotencyKeyOf(input.req.headers) : undefined;
    if (key === undefined) {
      const answer = await endpoint.handle(toCall(input, known, (name, value) => input.res.setHeader(name, value)));
      // What took long, such as a wait for the next event, is not told to who was removed meanwhile. What was changed is changed.
      const rechecking = endpoint.route.method === 'GET' ? accessControl.recheck(known, endpoint) : undefined;
      if (rechecking !== undefined) await rechecking;
      return isLargeJson(answer, endpoint.route) ? send(await written(answer), input.res) : toTsRest(answer);
    }
    const answer = await onceForKey(idempotency, {
      request: {
        ...{ scope: scopeOf(known.grant?.principal), key, method: endpoint.route.method },
        ...{ path: input.req.originalUrl, body: known.bytes },
      },
      run: () => record(endpoint, input, known),
      refuse: (problem) => refusals.replyTo(problem, known),
    });
    return send(answer, input.res);
  };
}

/** The answer as bytes, with the headers that the handler set: exactly what a replay repeats. */
async function record(endpoint: Endpoint, input: TsRestInput, known: Known): Promise<Answer> {
  const headers: Record<string, string> = {};
  const { status, body } = await endpoint.handle(
    toCall(input, known, (name, value) => {
      headers[name.toLowerCase()] = value;
    }),
  );
  return written({ status, body }, headers);
}

/** What Express would write in one go. Pages and other media types are texts, and written already. */
const isLargeJson = ({ status, body }: { status: number; body?: unknown }, { responses }: AppRoute): boolean =>
  typeof body === 'object' && body !== null && !('contentType' in Object(responses[status])) && !isSmall(body);

async function written({ status, body }: { status: number; body?: unknown }, headers: Record<string, string> = {}): Promise<Answer> {
  if (body === undefined) return { status, headers, body: Buffer.alloc(0) };
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: await writtenJson(body) };
}

/** A stream is what ts-rest sends as it is, without another look at its content type. */
function send({ status, headers, body }: Answer, response: ServerResponse): TsRestAnswer {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (status !== 204) response.setHeader('content-length', body.length);
  return toTsRest({ status, body: Readable.from(body.length > 0 ? [body] : []) });
}

function toCall({ params, query, headers, body, req }: TsRestInput, known: Known, setHeader: CheckedCall['setHeader']): CheckedCall {
  const peer = { address: known.peerAddress, userAgent: req.headers['user-agent'] ?? null };
  return { params, query, headers, body, principal: known.grant?.principal, requestId: shownIdOf(known), peer, setHeader };
}

function toTsRest(answer: { status: number; body?: unknown }): TsRestAnswer {
  if (!isTsRestAnswer(answer)) throw new Error(`${answer.status} is not an HTTP status`);
  return answer;
}

// One member of ts-rest's union for each of some sixty statuses; which of them a route has, its own types have checked.
const isTsRestAnswer = (answer: { status: number; body?: unknown }): answer is TsRestAnswer =>
  Number.isInteger(answer.status) && answer.status >= 200 && answer.status <= 599;
