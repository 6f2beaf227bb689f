import type { AppRoute } from '@ts-rest/core';
import { createExpressEndpoints } from '@ts-rest/express';
import express, { type Request, type Response } from 'express';
import * as z from 'zod';
import { ACCOUNT_JSON, INFERENCE_JSON } from '../../kernel/json-scan.ts';
import type { Idempotency } from '../idempotency.ts';
import type { AccessControl } from './access-control.ts';
import { type BodyLimits, type JsonBody, readJsonBody, readMail } from './body.ts';
import { type BodyMemory, mayBeLarge } from './body-memory.ts';
import { whenClosed } from './closed.ts';
import { type Endpoint, metadataOf } from './endpoint.ts';
import { type Exchange, principalOf } from './exchange.ts';
import { mostWelcome } from './most-welcome.ts';
import type { PeerAddress } from './peer-address.ts';
import type { Refusals } from './refusals.ts';
import { type ServedOperation, type ServedRoute, unknownPath } from './router.ts';
import { pathnameOf } from './target.ts';
import { createImplementation, note } from './ts-rest-implementation.ts';
import { checkedBody, isCheckedUpToFirstFault, validationProblem } from './validation.ts';

export interface AccountApiDeps {
  readonly endpoints: readonly Endpoint[];
  readonly accessControl: AccessControl;
  readonly idempotency: Idempotency;
  readonly bodyLimits: BodyLimits;
  /** Of the routes that take what inference takes. */
  readonly largeBodyLimits: BodyLimits;
  readonly bodyMemory: BodyMemory;
  readonly peerAddress: PeerAddress;
  readonly refusals: Refusals;
  /** Checks every answer against the contract; for tests. */
  readonly validatesAnswers?: boolean;
}

/** Every operation whose answer is whole and JSON: ts-rest checks its input and calls its slice, Express writes the answer. */
export function endpointRoutes(deps: AccountApiDeps): ServedRoute[] {
  const served = deps.endpoints.map((endpoint) => serve(endpoint, deps));
  return served.map((route) => withOtherForms(route, served));
}

function serve(endpoint: Endpoint, deps: AccountApiDeps): ServedRoute {
  const { route, metadata } = endpoint;
  // Health checks and caches in front add their own parameters to documents that describe the service.
  const operation: ServedOperation = { metadata, query: metadata.tag === 'Discovery' ? 'any' : route.query };
  const answerWith = expressFor(endpoint, deps);
  return {
    method: route.method,
    path: route.path,
    kind: 'api',
    operation,
    async answer(exchange) {
      const body = await bodyOf(exchange, route, operation, deps);
      await answerWith(exchange, body);
    },
  };
}

function expressFor(endpoint: Endpoint, deps: AccountApiDeps) {
  const { operationId } = endpoint.metadata;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  // `<` as \u003c: JSON-LD is put into pages as it is, where `</script>` in a title would end it.
  app.set('json escape', true);
  createExpressEndpoints({ [operationId]: endpoint.route }, { [operationId]: createImplementation(endpoint, deps) }, app, {
    logInitialization: false,
    responseValidation: deps.validatesAnswers ?? false,
    requestValidationErrorHandler: ({ pathParams, headers, query, body }, _request, _response, next) =>
      next(validationProblem({ path: pathParams, header: headers, query, body })),
  });
  return (exchange: Exchange, body: TakenBody | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const { req, res } = exchange;
      note({ ...exchange, peerAddress: deps.peerAddress(req), bytes: body?.bytes ?? NO_BODY });
      whenClosed(res, resolve);
      const request = Object.assign(req, body && { body: body.value });
      app(request as Request, res as Response, (failure: unknown) => reject(failure ?? unknownPath()));
    });
}

interface TakenBody {
  readonly bytes: Buffer;
  readonly value: unknown;
}

const NO_BODY = Buffer.alloc(0);

/** Undefined for a route without a body, which has no schema there, or a symbol: what a caller sends along is left unread. */
async function bodyOf(
  exchange: Exchange,
  route: AppRoute,
  operation: ServedOperation,
  deps: AccountApiDeps,
): Promise<TakenBody | undefined> {
  if (!('body' in route) || typeof route.body !== 'object') return undefined;
  const isMail = operation.metadata.body === 'mail';
  const taken = await (isMail ? readMail(exchange.req, deps.largeBodyLimits) : readChecked(exchange, route, deps));
  await deps.accessControl.recheck(exchange, operation);
  return taken;
}

function readLarge(exchange: Exchange, { largeBodyLimits, bodyMemory }: AccountApiDeps): Promise<JsonBody> {
  const { req, res } = exchange;
  if (!mayBeLarge(req)) return readJsonBody(req, largeBodyLimits, INFERENCE_JSON);
  const reservation = bodyMemory.reservationOf(principalOf(exchange).accountId);
  whenClosed(res, () => reservation.release());
  return readJsonBody(req, largeBodyLimits, INFERENCE_JSON, reservation);
}

/** A body with many values is checked here, up to its first fault: ts-rest, which checks it once more, would collect them all. */
async function readChecked(exchange: Exchange, route: AppRoute, deps: AccountApiDeps): Promise<JsonBody> {
  const body = await (metadataOf(route).body === 'inference'
    ? readLarge(exchange, deps)
    : readJsonBody(exchange.req, deps.bodyLimits, ACCOUNT_JSON));
  if (isCheckedUpToFirstFault(body) && 'body' in route && route.body instanceof z.ZodType) checkedBody(route.body, body);
  return body;
}

/** Of a path with parameters: what it matches. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);

/** A route whose answer has other forms at other addresses gives them here too, to clients that prefer them. */
function withOtherForms(served: ServedRoute, all: readonly ServedRoute[]): ServedRoute {
  const forms = served.operation?.metadata.alsoAt;
  if (forms === undefined) return served;
  const others = forms.map(({ contentType, ending }) => {
    const other = all.find(({ path }) => patternOf(path).test(`${served.path}${ending}`));
    if (other === undefined) throw new Error(`Nothing answers ${served.path}${ending}`);
    return { contentType, ending, other };
  });
  return {
    ...served,
    answer(exchange) {
      const { req, res } = exchange;
      // Also when it is answered in JSON, since a cache must not give one form to a client that asks for the other (RFC 9110, 12.5.5).
      res.setHeader('vary', 'Accept');
      const type = mostWelcome(req.headers.accept, ['application/json', ...others.map(({ contentType }) => contentType)]);
      const wanted = others.find(({ contentType }) => contentType === type);
      if (wanted === undefined) return served.answer(exchange);
      const { url = '' } = req;
      const pathname = pathnameOf(url);
      req.url = `${pathname}${wanted.ending}${url.slice(pathname.length)}`;
      return wanted.other.answer(exchange);
    },
  };
}
