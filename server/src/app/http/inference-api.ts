import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Call,
  completeCall,
  type InferenceDeps,
  type Operation,
  parseInferenceHeaders,
  presentRateHeaders,
  type Reply,
  requireEndpoint,
  type SignatureCheck,
  streamCall,
} from '../../inference/index.ts';
import { isWellFormedRequestId, newReceiptId, newRequestId } from '../../kernel/ids.ts';
import { type Log, withoutRedaction } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Idempotency } from '../idempotency.ts';
import { CORS_HEADERS } from './cors.ts';
import { type Authenticator, authorise, type Grant } from './credentials.ts';
import { paramsIn } from './path-table.ts';
import { problemOf } from './problem-document.ts';
import { type ReceivedBody, type ReceivedBodyDeps, readBody } from './received-body.ts';
import { validationProblem } from './validation.ts';

interface InferenceApiDeps extends ReceivedBodyDeps {
  readonly authenticator: Authenticator;
  readonly idempotency: Idempotency;
  readonly inference: InferenceDeps;
  readonly operations: readonly Operation[];
  readonly checkSignature: SignatureCheck;
}

interface ServingDeps extends InferenceApiDeps {
  readonly refusalLog: Log;
}

type CallIds = Pick<Call, 'requestId' | 'clientRequestId'>;

const GRANT_FRESH_MS = 500;

/**
 * The hot path: everything that runs a model, straight on node:http. Express in between would cost more than everything the gateway does
 * with the request.
 */
export function createInferenceApi(given: InferenceApiDeps) {
  const deps: ServingDeps = { ...given, refusalLog: withoutRedaction(given.inference.log) };
  const byPath = new Map(given.operations.map((operation) => [operation.path, operation]));
  const withParameters = given.operations.filter(({ path }) => path.includes('/:'));
  const matchOf = ({ method, url = '' }: IncomingMessage): Match | undefined => {
    if (method !== 'POST') return undefined;
    const mark = url.indexOf('?');
    const pathname = mark < 0 ? url : url.slice(0, mark);
    const operation = byPath.get(pathname);
    if (operation) return { operation, pathname };
    for (const candidate of withParameters) {
      const params = paramsIn(candidate.path, pathname);
      if (params) return { operation: candidate, pathname, params };
    }
    return undefined;
  };
  return {
    handles: (req: IncomingMessage): boolean => matchOf(req) !== undefined,

    async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const match = matchOf(req);
      if (!match) throw new Error('Only what is handled is served');
      const ids = callIds(req);
      // Only browsers read these, and only they say where they come from.
      if (req.headers.origin !== undefined) for (const [name, value] of Object.entries(CORS_HEADERS)) res.setHeader(name, value);
      const exchange: Exchange = { req, res, ids, caller: undefined };
      try {
        await answer(match, exchange, deps);
      } catch (thrown) {
        await refuse(thrown, exchange, deps);
      }
    },
  };
}

/** The operation that a request is for, and what stands in its path. */
interface Match {
  readonly operation: Operation;
  readonly pathname: string;
  readonly params?: Readonly<Record<string, string>>;
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly ids: CallIds;
  /** Whose credential was proven, whatever it may do. */
  caller: Grant | undefined;
}

async function answer({ operation, pathname, params }: Match, exchange: Exchange, deps: ServingDeps): Promise<void> {
  const { req, res, ids } = exchange;
  const startedTick = performance.now();
  const startedAt = deps.inference.clock.now();
  const early = await admittedGrant(exchange, operation, deps.authenticator);
  const headers = parseInferenceHeaders(req.headers);
  const body = await readBody(operation, req, deps);
  try {
    // A body that trickles in must not carry a key past its revocation, or past a lowered cap.
    const isStale = performance.now() - startedTick > GRANT_FRESH_MS;
    const grant = isStale ? await admittedGrant(exchange, operation, deps.authenticator) : early;
    const received = params ? { ...body.received, params } : body.received;
    const signature = deps.checkSignature(req, received.sha256, grant);
    // Most requests are not signed, and need no turn of the event loop to find out.
    const clientSignature = signature && (await signature);
    const making = operation.workOf(parseRequest(operation, body), received, grant);
    const work = making instanceof Promise ? await making : making;
    const hangUp = new AbortController();
    const receiptId = newReceiptId(startedAt);
    const call: Call = { ...ids, receiptId, startedAt, startedTick, grant, headers, work, clientSignature, signal: hangUp.signal };
    await serveCall(call, { pathname, req, res, fingerprint: body.fingerprint, hangUp }, deps);
  } finally {
    if (body.discard) await body.discard();
  }
}

interface Serving {
  readonly pathname: string;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly fingerprint: ReceivedBody['fingerprint'];
  readonly hangUp: AbortController;
}

async function serveCall(call: Call, { pathname, req, res, fingerprint, hangUp }: Serving, deps: ServingDeps): Promise<void> {
  const { isStream, mayBeWhole } = call.work;
  const key = req.headers['idempotency-key'];
  if (isStream && !(mayBeWhole && typeof key === 'string')) {
    abortOnHangUp(res, hangUp);
    return streamCall(call, res, deps.inference);
  }
  if (typeof key !== 'string') {
    if (!call.work.outlivesHangUp) abortOnHangUp(res, hangUp);
    return send(res, await completeCall(call, deps.inference));
  }
  // Who sends a key wants the answer even if this connection breaks: the call goes on, and the repeat gets what came of it.
  return send(res, await completeOnce(call, { key, path: pathname, body: fingerprint() }, deps));
}

async function admittedGrant(exchange: Exchange, { endpoint, metadata }: Operation, authenticator: Authenticator): Promise<Grant> {
  // A key that has ended while its body arrived is nobody's.
  exchange.caller = undefined;
  const grant = await grantOf(exchange.req, authenticator);
  exchange.caller = grant;
  authorise(metadata, grant.principal);
  requireEndpoint(grant, endpoint);
  return grant;
}

/** A key that is in memory costs no turn of the event loop. A database that cannot be read is no reason to call the credential wrong. */
function grantOf(req: IncomingMessage, authenticator: Authenticator): Grant | Promise<Grant> {
  const grant = authenticator.authenticate(req);
  if (!(grant instanceof Promise)) return grant;
  return grant.catch(unreachable('Credentials cannot be checked at the moment: repeat the request in a few seconds.'));
}

/** Whatever fails there that is no refusal is the store. */
const unreachable =
  (detail: string) =>
  (cause: unknown): never => {
    throw cause instanceof Problem ? cause : new Problem('store_unavailable', detail, { retryAfterSeconds: 2, cause });
  };

function abortOnHangUp(res: ServerResponse, hangUp: AbortController): void {
  // The client may be gone since its signature was looked at.
  if (res.destroyed) hangUp.abort();
  res.once('close', () => {
    if (!res.writableFinished) hangUp.abort();
  });
}

async function completeOnce(
  call: Call,
  { key, path, body }: { key: string; path: string; body: Buffer },
  deps: ServingDeps,
): Promise<Reply> {
  if (key.length === 0 || key.length > 255)
    throw validationProblem({
      header: { issues: [{ path: ['idempotency-key'], message: 'must have 1 to 255 characters', code: 'invalid' }] },
    });
  const { idempotency, inference } = deps;
  const { principal } = call.grant;
  const scope = principal.kind === 'key' ? `key:${principal.keyId}` : `user:${principal.userId}`;
  const begun = await idempotency
    .begin({ scope, key, method: 'POST', path, body })
    .catch(unreachable('Idempotency keys cannot be looked up at the moment: repeat the request in a few seconds.'));
  if (begun.kind === 'replay') {
    const { status, headers, body } = begun.answer;
    return { status, headers: { ...headers, 'idempotent-replayed': 'true' }, body };
  }
  const reply = await completeCall(call, inference).catch((thrown: unknown) => {
    const problem = problemOf(thrown);
    report(problem, call, deps);
    return refusalReply(problem, { ids: call, caller: call.grant }, inference);
  });
  await begun.complete({ status: reply.status, headers: textHeaders(reply.headers), body: reply.body });
  return reply;
}

const textHeaders = (headers: Reply['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));

function send(res: ServerResponse, { status, headers, body }: Reply): void {
  if (!res.destroyed) res.writeHead(status, headers).end(body);
}

/** With the caller's rate limits, as on every other answer: those that a hold has seen already, or as they stand. */
async function refusalReply(problem: Problem, { ids, caller }: Pick<Exchange, 'ids' | 'caller'>, inference: InferenceDeps): Promise<Reply> {
  const reply = inference.problemReply(problem, ids);
  if (!caller) return reply;
  return { ...reply, headers: { ...(await presentRateHeaders(inference.lanes, caller, inference.clock.now())), ...reply.headers } };
}

async function refuse(thrown: unknown, exchange: Exchange, deps: ServingDeps): Promise<void> {
  const { res, ids } = exchange;
  const problem = problemOf(thrown);
  report(problem, ids, deps);
  if (!res.headersSent) {
    send(res, await refusalReply(problem, exchange, deps.inference));
    return;
  }
  // The stream has begun: the last thing it says is what went wrong.
  const { message, code } = problem;
  res.end(`data: ${JSON.stringify({ error: { message, type: 'server_error', code, param: null } })}\n\n`);
}

function report({ code, status, extras, cause }: Problem, { requestId }: CallIds, { inference, refusalLog }: ServingDeps): void {
  const facts = { requestId, code, because: extras.because };
  // The cause of a refusal may quote the request (JSON.parse does): it is logged for our own failures only.
  if (status >= 500) inference.log.error({ ...facts, err: cause }, 'inference failed');
  else refusalLog.info(facts, 'inference refused');
}

function callIds({ headers }: IncomingMessage): CallIds {
  const given = headers['x-request-id'];
  return { requestId: newRequestId(), clientRequestId: typeof given === 'string' && isWellFormedRequestId(given) ? given : null };
}

function parseRequest({ schema, formSchema }: Operation, { value, isForm }: ReceivedBody): unknown {
  const parsed = (isForm ? formSchema : schema).safeParse(value);
  if (!parsed.success) throw validationProblem({ body: parsed.error });
  return parsed.data;
}
