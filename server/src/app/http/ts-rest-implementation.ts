import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { AppRoute, ServerInferResponses } from '@ts-rest/core';
import type { Idempotency } from '../idempotency.ts';
import type { Answer } from '../idempotency-seal.ts';
import type { CheckedCall, Endpoint } from './endpoint.ts';
import { exchangeOf } from './exchange.ts';
import { onceForKey } from './idempotent-handling.ts';
import { toProblemDocument } from './problem-document.ts';

interface ImplementationDeps {
  readonly idempotency: Idempotency;
  readonly publicUrl: () => string;
}

/** What ts-rest hands over once the input fits the contract. */
interface TsRestInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body?: unknown;
  readonly req: IncomingMessage & { readonly originalUrl: string };
  readonly res: ServerResponse;
}

type TsRestAnswer = ServerInferResponses<AppRoute>;

/** An endpoint as ts-rest calls it: the caller is added, and an `Idempotency-Key` is honoured where the contract declares one. */
export function createImplementation(endpoint: Endpoint, { idempotency, publicUrl }: ImplementationDeps) {
  const takesIdempotencyKey = 'idempotency-key' in Object(endpoint.route.headers);

  return async (input: TsRestInput): Promise<TsRestAnswer> => {
    const key = takesIdempotencyKey ? idempotencyKeyOf(input.req.headers) : undefined;
    if (key === undefined) {
      return toTsRest(await endpoint.handle(toCall(input, (name, value) => input.res.setHeader(name, value))));
    }
    const { requestId, principal, body } = exchangeOf(input.req);
    const { answer, isReplay } = await onceForKey(idempotency, {
      request: { scope: scopeOf(principal), key, method: endpoint.route.method, path: input.req.originalUrl, body },
      run: () => record(endpoint, input),
      toAnswer: (problem) => toProblemDocument(problem, { requestId, publicUrl: publicUrl() }),
    });
    return send(answer, isReplay, input.res);
  };
}

/** The answer as bytes, with the headers that the handler set: exactly what a replay repeats. */
async function record(endpoint: Endpoint, input: TsRestInput): Promise<Answer> {
  const headers: Record<string, string> = {};
  const { status, body } = await endpoint.handle(
    toCall(input, (name, value) => {
      headers[name.toLowerCase()] = value;
    }),
  );
  if (body === undefined) return { status, headers, body: Buffer.alloc(0) };
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: Buffer.from(JSON.stringify(body)) };
}

/** A stream is what ts-rest sends as it is, without another look at its content type. */
function send({ status, headers, body }: Answer, isReplay: boolean, response: ServerResponse): TsRestAnswer {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (isReplay) response.setHeader('idempotent-replayed', 'true');
  if (status !== 204) response.setHeader('content-length', body.length);
  return toTsRest({ status, body: Readable.from(body.length > 0 ? [body] : []) });
}

function toCall({ params, query, headers, body, req }: TsRestInput, setHeader: CheckedCall['setHeader']): CheckedCall {
  const { requestId, peerAddress, principal } = exchangeOf(req);
  const peer = { address: peerAddress, userAgent: req.headers['user-agent'] ?? null };
  return { params, query, headers, body, principal, requestId, peer, setHeader };
}

function toTsRest(answer: { status: number; body?: unknown }): TsRestAnswer {
  if (!isTsRestAnswer(answer)) throw new Error(`${answer.status} is not an HTTP status`);
  return answer;
}

// One member of ts-rest's union for each of some sixty statuses; which of them a route has, its own types have checked.
const isTsRestAnswer = (answer: { status: number; body?: unknown }): answer is TsRestAnswer =>
  Number.isInteger(answer.status) && answer.status >= 200 && answer.status <= 599;

function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const value = headers['idempotency-key'];
  return typeof value === 'string' ? value : undefined;
}

/**
 * The caller and not the account: a replay can hold a secret, and another key of the account may be weaker. A user keeps their
 * scope across sessions, so that a repeat after a new login still meets its first answer.
 */
function scopeOf(principal: CheckedCall['principal']): string {
  if (!principal) return 'internal';
  return principal.kind === 'key' ? `key:${principal.keyId}` : `user:${principal.userId}`;
}
