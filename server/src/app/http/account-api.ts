import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppRoute } from '@ts-rest/core';
import { createExpressEndpoints } from '@ts-rest/express';
import express, { type NextFunction, type Request, type Response, Router } from 'express';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Idempotency } from '../idempotency.ts';
import { type BodyLimits, readJsonBody, readMail } from './body.ts';
import { CORS_HEADERS, preflightHeaders } from './cors.ts';
import { type Authenticator, authorise, type Grant } from './credentials.ts';
import { type Endpoint, metadataOf } from './endpoint.ts';
import { exchangeOf, openExchange } from './exchange.ts';
import { mostWelcome } from './most-welcome.ts';
import { createPathTable, pathnameOf } from './path-table.ts';
import type { PeerAddress } from './peer-address.ts';
import { problemOf, toProblemDocument } from './problem-document.ts';
import { requestIdOf } from './request-id.ts';
import { createImplementation } from './ts-rest-implementation.ts';
import { validationProblem } from './validation.ts';

/** For so long after a caller was let in, nothing is asked again: a revocation has a second to take effect everywhere. */
const ADMISSION_FRESH_MS = 500;

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export interface AccountApiDeps {
  readonly endpoints: readonly Endpoint[];
  /** Routes of the contract that somebody else answers: their paths exist here, for `Allow`. */
  readonly elsewhere: readonly AppRoute[];
  readonly authenticator: Authenticator;
  readonly idempotency: Idempotency;
  readonly bodyLimits: BodyLimits;
  /** Of the routes that take what inference takes. */
  readonly largeBodyLimits: BodyLimits;
  readonly peerAddress: PeerAddress;
  /** Base of the error pages' addresses, without a slash at the end. */
  readonly publicUrl: () => string;
  readonly log: Log;
  /** Checks every answer against the contract; for tests. */
  readonly validatesAnswers?: boolean;
}

/**
 * Everything but inference, as one request handler. In order: does the path exist, with this method → who is calling and may
 * they → the body, and once more who is calling where it took long → is the input valid → the slice. So nobody learns what an endpoint takes before they have shown who they are,
 * and no body is read for a path that is not there.
 */
export function createAccountApi(deps: AccountApiDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const { endpoints, elsewhere } = deps;
  const paths = createPathTable([...endpoints.map(({ route }) => route), ...elsewhere]);
  const routers = createRouters(deps);

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // `<` as \u003c: JSON-LD is put into pages as it is, where `</script>` in a title would end it.
  app.set('json escape', true);
  app.use((request, response, next) => {
    const requestId = requestIdOf(request.headers);
    openExchange(request, requestId, deps.peerAddress(request));
    response.set({ 'x-request-id': requestId, ...SECURITY_HEADERS, ...CORS_HEADERS });
    if (request.method === 'OPTIONS') {
      response.writeHead(204, preflightHeaders(request.headers)).end();
      return;
    }
    const pathname = pathnameOf(request.url);
    requireMethod(paths.methodsOf(pathname), request.method);
    const router = routers.get(groupOf(pathname));
    if (!router) throw unknownPath();
    router(request, response, next);
  });
  app.use(() => {
    throw unknownPath();
  });
  app.use(answerFailure(deps));
  return app;
}

/** One router for each first segment: Express tries routes one after the other, which is slow with a hundred of them. */
function createRouters(deps: AccountApiDeps): Map<string, Router> {
  const groups = Map.groupBy(fixedPathsFirst(deps.endpoints), ({ route }) => groupOf(route.path));
  const routers = new Map<string, Router>();
  for (const [group, endpoints] of groups) {
    const router = Router({ caseSensitive: true, strict: true });
    const contract: Record<string, AppRoute> = {};
    const implementation: Record<string, ReturnType<typeof createImplementation>> = {};
    for (const endpoint of endpoints) {
      const { operationId } = endpoint.metadata;
      contract[operationId] = endpoint.route;
      implementation[operationId] = createImplementation(endpoint, deps);
    }
    createExpressEndpoints(contract, implementation, router, {
      logInitialization: false,
      responseValidation: deps.validatesAnswers ?? false,
      globalMiddleware: [
        (request, response, next) => {
          const ending = endingWanted(request, response);
          if (ending === undefined) return next();
          request.url = withEnding(request.url, ending);
          router(request, response, next);
        },
        (request, _response, next) => void admit(request, request.tsRestRoute, deps).then(() => next(), next),
        (request, _response, next) => next(nullCharacterIn(request, request.tsRestRoute)),
        (request, _response, next) => void takeBody(request, request.tsRestRoute, deps).then(() => next(), next),
      ],
      requestValidationErrorHandler: ({ pathParams, headers, query, body }, _request, _response, next) =>
        next(validationProblem({ path: pathParams, header: headers, query, body })),
    });
    routers.set(group, router);
  }
  return routers;
}

/** The ending of the address at which the answer has the form that the caller takes most gladly; undefined for JSON. */
function endingWanted(request: Request & { readonly tsRestRoute: AppRoute }, response: Response): string | undefined {
  const { alsoAt } = metadataOf(request.tsRestRoute);
  if (alsoAt === undefined) return undefined;
  // Also when it is answered in JSON, since a cache must not hand one form to whoever asks for the other (RFC 9110, 12.5.5).
  response.vary('Accept');
  const type = mostWelcome(request.headers.accept, ['application/json', ...alsoAt.map(({ contentType }) => contentType)]);
  return alsoAt.find(({ contentType }) => contentType === type)?.ending;
}

const withEnding = (url: string, ending: string): string => {
  const pathname = pathnameOf(url);
  return `${pathname}${ending}${url.slice(pathname.length)}`;
};

/** `/v1/keys/budget-summary` is no key's id: the first route that matches answers, whatever the order of the slices. */
const fixedPathsFirst = (endpoints: readonly Endpoint[]): Endpoint[] => {
  const rank = ({ route }: Endpoint) => (route.path.includes('/:') ? 1 : 0);
  return endpoints.toSorted((a, b) => rank(a) - rank(b));
};

async function admit(request: IncomingMessage, route: AppRoute, { authenticator }: AccountApiDeps): Promise<void> {
  const metadata = metadataOf(route);
  switch (metadata.auth) {
    case 'none':
      return;
    case 'internal':
      authenticator.requireInternalSecret(request.headers);
      return;
    case 'bearer': {
      const grant = await authenticator.authenticate(request);
      requireNoSignature(grant);
      const { principal } = grant;
      authorise(metadata, principal);
      exchangeOf(request).principal = principal;
      return;
    }
    default:
      metadata.auth satisfies never;
  }
}

/** No signature is verified here, so a stolen key that is worth nothing unsigned must not open the account either. */
function requireNoSignature(grant: Grant): void {
  if ('limits' in grant && grant.limits?.signing?.isRequired)
    throw new Problem('signature_required', 'This API key only signs inference requests: use another key or a session.');
}

/** No text that is kept has a null character, and PostgreSQL fails on being asked for one: refused here for every route that reads any. */
function nullCharacterIn({ params, url }: Request, route: AppRoute): Problem | undefined {
  const query = route.query === undefined ? [] : new URLSearchParams(url.slice(pathnameOf(url).length));
  const parts = { path: Object.entries(params), query: [...query] };
  for (const [part, values] of Object.entries(parts))
    for (const [name, value] of values)
      if (`${name}${value}`.includes('\0'))
        return invalidInput([{ loc: [part, name.replaceAll('\0', '')], msg: 'must not contain null characters', type: 'value_error' }]);
  return undefined;
}

async function takeBody(request: Request, route: AppRoute, deps: AccountApiDeps): Promise<void> {
  // A route without a body has no schema there, or a symbol; what a caller sends along is left unread.
  if (!('body' in route) || typeof route.body !== 'object') return;
  const admittedTick = performance.now();
  const kind = metadataOf(route).body;
  const limits = kind === undefined ? deps.bodyLimits : deps.largeBodyLimits;
  const { bytes, value } = await (kind === 'mail' ? readMail : readJsonBody)(request, limits);
  // A body that trickles in must not carry a caller past the end of their key or session.
  if (performance.now() - admittedTick > ADMISSION_FRESH_MS) await admit(request, route, deps);
  exchangeOf(request).body = bytes;
  request.body = value;
}

/** Express tells an error handler by its four parameters. */
function answerFailure({ publicUrl, log }: AccountApiDeps) {
  return (thrown: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const problem = problemOf(thrown);
    const { requestId } = exchangeOf(request);
    report(log, problem, requestId);
    if (response.headersSent) {
      // Half an answer is out: only cutting the connection still says that it failed.
      response.destroy();
      return;
    }
    const { status, headers, body } = toProblemDocument(problem, { requestId, publicUrl: publicUrl() });
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
  };
}

function report(log: Log, { code, status, extras, cause }: Problem, requestId: string): void {
  const entry = { requestId, code, because: extras.because };
  // The cause of a refusal may quote the request (JSON.parse does): it is logged for our own failures only.
  if (status >= 500) log.error({ ...entry, err: cause }, 'request failed');
  else log.info(entry, 'request refused');
}

function requireMethod(methods: ReadonlySet<string> | undefined, method: string): void {
  if (!methods) throw unknownPath();
  if (methods.has(method)) return;
  const allow = [...methods].sort().join(', ');
  throw new Problem('method_not_allowed', `This path does not have the method ${method.slice(0, 20)}: it has ${allow}.`, {
    headers: { allow },
  });
}

const unknownPath = (): Problem =>
  new Problem(
    'unknown_path',
    'There is no such endpoint here: /openapi.json lists all there are, and the base URL of OpenAI clients ends in /v1.',
  );

/** `/v1/keys/…` → `v1/keys`, `/health/live` → `health`. */
function groupOf(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3);
  return first === 'v1' ? `v1/${second}` : first;
}
