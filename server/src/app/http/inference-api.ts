import type { ServerResponse } from 'node:http';
import {
  type AnchorAnswer,
  type Call,
  completeCall,
  type InferenceDeps,
  type Operation,
  parseInferenceHeaders,
  presentRateHeaders,
  type RefusedRequests,
  type Reply,
  refuseLoop,
  requireEndpoint,
  requirePlanFor,
  type SharedLane,
  type SignatureCheck,
  streamCall,
  withEndUser,
  withLimits,
} from '../../inference/calls/index.ts';
import { newReceiptId } from '../../kernel/ids.ts';
import type { MemoryReservation } from '../../kernel/memory-reservation.ts';
import { Problem } from '../../kernel/problem.ts';
import { nextTurn } from '../../kernel/turn.ts';
import type { Idempotency } from '../idempotency.ts';
import type { Answer } from '../idempotency-seal.ts';
import type { AccessControl } from './access-control.ts';
import { LARGE_BYTES } from './body.ts';
import { type BodyMemory, mayBeLarge } from './body-memory.ts';
import { whenClosed } from './closed.ts';
import { isManagementGrant, modelCallerOf } from './credentials.ts';
import { type Exchange, grantOf, principalOf } from './exchange.ts';
import { idempotencyKeyOf, onceForKey, scopeOf } from './idempotent-handling.ts';
import { type ReceivedBody, type ReceivedBodyDeps, readBody } from './received-body.ts';
import type { RefusalForm, Refusals } from './refusals.ts';
import type { ServedOperation, ServedRoute } from './router.ts';
import { queryParamsOf } from './target.ts';
import { checkedBody } from './validation.ts';

interface InferenceApiDeps extends ReceivedBodyDeps {
  readonly accessControl: AccessControl;
  readonly refusals: Refusals;
  readonly idempotency: Idempotency;
  readonly inference: InferenceDeps;
  readonly operations: readonly Operation[];
  readonly refusedRequests: RefusedRequests;
  /** Undefined where nothing limits how many requests are served at the same time. */
  readonly sharedLane: SharedLane | undefined;
  readonly bodyMemory: BodyMemory;
  readonly checkSignature: SignatureCheck;
  /** The answer has it as `X-VaaS-Anchor` for callers who request an anchor. */
  readonly anchorAnswer: AnchorAnswer;
}

/**
 * The hot path: everything that runs a model, straight on node:http. Express in between would cost more than everything the gateway does
 * with the request.
 */
export function inferenceRoutes(deps: InferenceApiDeps): ServedRoute[] {
  return deps.operations.map((operation) => {
    const served: ServedOperation = {
      ...{ metadata: operation.metadata, verifiesSignatures: true },
      requires: (grant) => requireEndpoint(modelCallerOf(grant), operation.endpoint),
    };
    const refusal: RefusalForm = { reply: (problem, exchange, document) => withRates(problem, exchange, document, deps) };
    return {
      ...{ method: 'POST', path: operation.path, kind: 'api', operation: served, refusal, countsRefusals: true },
      answer: (exchange) => answer({ operation, served, refusal }, exchange, deps),
    };
  });
}

interface Serving {
  readonly operation: Operation;
  readonly served: ServedOperation;
  readonly refusal: RefusalForm;
}

/** Most requests are small, and reserve no memory. */
const answer = (serving: Serving, exchange: Exchange, deps: InferenceApiDeps): Promise<void> =>
  mayBeLarge(exchange.req) ? answerLarge(serving, exchange, deps) : answerWithin(undefined, serving, exchange, deps);

async function answerLarge(serving: Serving, exchange: Exchange, deps: InferenceApiDeps): Promise<void> {
  const reservation = deps.bodyMemory.reservationOf(principalOf(exchange).accountId);
  try {
    await answerWithin(reservation, serving, exchange, deps);
  } finally {
    reservation.release();
  }
}

async function answerWithin(
  reservation: MemoryReservation | undefined,
  serving: Serving,
  exchange: Exchange,
  deps: InferenceApiDeps,
): Promise<void> {
  const { operation, served } = serving;
  const { req, res, params, startedAt, startedTick, requestId, clientRequestId } = exchange;
  deps.refusedRequests.requireRoom(modelCallerOf(grantOf(exchange)));
  if (deps.sharedLane) enterUntilClosed(deps.sharedLane, res);
  refuseSignedDeployment(exchange);
  const headers = parseInferenceHeaders(req.headers);
  refuseLoop(headers.via, deps.inference.gatewayId);
  if (headers.anchorWished) res.setHeader('x-vaas-anchor', deps.anchorAnswer);
  const body = ofDeployment(await readBody(operation, req, deps, reservation), exchange.deployment);
  try {
    const rechecking = deps.accessControl.recheck(exchange, served);
    if (rechecking !== undefined) await rechecking;
    const grant = modelCallerOf(grantOf(exchange));
    requirePlanFor(grant, headers, deps.inference.plans);
    const received = { ...body.received, params, query: queryParamsOf(req.url ?? '') };
    const { method, rawHeaders, headers: fields } = req;
    const signature = deps.checkSignature({ method, rawHeaders, headers: fields, url: exchange.sentTarget }, received.sha256, grant);
    // Most requests are not signed, and need no turn of the event loop to find out.
    const clientSignature = signature && (await signature);
    const request = parseRequest(operation, body);
    const isLarge = received.bytes.length > LARGE_BYTES;
    if (isLarge) await nextTurn();
    const making = operation.workOf(request, received, grant);
    const work = making instanceof Promise ? await making : making;
    if (isLarge) await nextTurn();
    const hangUp = new AbortController();
    const receiptId = newReceiptId(startedAt);
    const ids = { requestId, clientRequestId, receiptId, surface: exchange.surface };
    const call: Call = {
      ...{ ...ids, startedAt, startedTick, work, clientSignature, signal: hangUp.signal },
      grant: grant.principal.kind === 'session' ? await withLimits(grant, deps.inference) : grant,
      headers: headers.endUser === undefined ? withEndUser(headers, request, operation.endpoint) : headers,
    };
    const { answers } = deps.inference;
    const cache =
      headers.cache && (await answers?.of({ work, path: operation.path, request, received, caller: call.grant, headers: call.headers }));
    await serveCall(cache ? { ...call, cache } : call, { ...serving, exchange, fingerprint: body.fingerprint, hangUp }, deps);
  } finally {
    if (body.discard) await body.discard();
  }
}

/** The model is in the path as it was sent, and signatures are of our own paths: a signed body could be moved to a dearer model. */
function refuseSignedDeployment({ deployment, params, req }: Exchange): void {
  if ((deployment ?? params['model']) !== undefined && req.headers['signature-input'] !== undefined)
    throw new Problem('invalid_signature', 'A signed request names its model in the body: send it below /v1.', {
      because: 'its path names the model',
    });
}

/** Of the model that the path names, whatever the body says. */
const ofDeployment = (body: ReceivedBody, model: string | undefined): ReceivedBody =>
  model === undefined || !isFields(body.value) ? body : { ...body, value: { ...body.value, model } };

const isFields = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

const enterUntilClosed = (lane: SharedLane, res: ServerResponse): void => whenClosed(res, lane.enter());

interface ServingCall extends Serving {
  readonly exchange: Exchange;
  readonly fingerprint: ReceivedBody['fingerprint'];
  readonly hangUp: AbortController;
}

async function serveCall(call: Call, serving: ServingCall, deps: InferenceApiDeps): Promise<void> {
  const { exchange, hangUp } = serving;
  const { req, res } = exchange;
  const { isStream, mayBeWhole, isPassedOn } = call.work;
  const hasKey = req.headers['idempotency-key'] !== undefined;
  if (hasKey ? isStream && !mayBeWhole : isStream || isPassedOn) {
    abortOnHangUp(res, hangUp);
    return streamCall(call, res, deps.inference);
  }
  if (!hasKey) {
    if (!call.work.outlivesHangUp) abortOnHangUp(res, hangUp);
    return send(res, await completeCall({ ...call, isLeft: () => res.destroyed }, deps.inference));
  }
  // A client with a key wants the answer even if this connection breaks: the call continues, and the repeat gets its result.
  return send(res, await completeOnce(call, serving, deps));
}

const abortOnHangUp = (res: ServerResponse, hangUp: AbortController): void => whenClosed(res, () => res.writableFinished || hangUp.abort());

function completeOnce(call: Call, { exchange, fingerprint, refusal }: ServingCall, deps: InferenceApiDeps): Promise<Answer> {
  const key = idempotencyKeyOf(exchange.req.headers) ?? '';
  return onceForKey(deps.idempotency, {
    request: { scope: scopeOf(call.grant.principal), key, method: 'POST', path: pathOf(exchange), body: fingerprint() },
    run: async () => {
      const { status, headers, body } = await completeCall(call, deps.inference);
      return { status, headers: textHeaders(headers), body };
    },
    refuse: (problem) => deps.refusals.replyTo(problem, exchange, refusal),
  });
}

/** The same body asks another deployment for something else. */
const pathOf = ({ pathname, deployment }: Exchange): string => (deployment === undefined ? pathname : `${pathname} of ${deployment}`);

const textHeaders = (headers: Reply['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));

function send(res: ServerResponse, { status, headers, body }: Reply | Answer): void {
  if (!res.destroyed) res.writeHead(status, headers).end(body);
}

/** With the caller's rate limits, as on every other answer. A fault of the caller's is one of the requests that they may make. */
async function withRates(
  problem: Problem,
  { grant }: Exchange,
  document: Answer,
  { inference, refusedRequests }: InferenceApiDeps,
): Promise<Answer> {
  // A store that did not answer in time is not asked again: that would take as long once more.
  if (!grant || isManagementGrant(grant) || problem.code === 'store_unavailable') return document;
  // Who cannot sign for a key, or has none, must not use up what its owner may ask for.
  const isCounted = problem.status < 500 && problem.status !== 401 && problem.code !== 'rate_limited';
  const rates = await (isCounted ? refusedRequests.count(grant) : presentRateHeaders(inference, grant));
  // What the hold saw of the limits was before this refusal counted.
  return { ...document, headers: { ...document.headers, ...rates } };
}

const parseRequest = ({ schema, formSchema }: Operation, body: ReceivedBody): unknown =>
  checkedBody(body.isForm ? formSchema : schema, body);
