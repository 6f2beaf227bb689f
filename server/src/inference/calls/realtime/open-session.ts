import { hash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { reasonOf, type UpstreamConnection, type UpstreamFault } from '../../../adapters/upstream/port.ts';
import { newReceiptId } from '../../../kernel/ids.ts';
import type { MemoryReservation } from '../../../kernel/memory-reservation.ts';
import { Problem } from '../../../kernel/problem.ts';
import type { Admission } from '../admission.ts';
import { admit } from '../admission.ts';
import { agentRunHeaders } from '../agent-run-headers.ts';
import type { Call } from '../call.ts';
import type { Caller } from '../call-context.ts';
import { requireRealtimeFields } from '../cost-fields/index.ts';
import type { Target } from '../deployments.ts';
import type { InferenceDeps } from '../deps.ts';
import type { InferenceHeaders } from '../headers.ts';
import { viaWith } from '../provider-loop.ts';
import { rateHeaders } from '../rate-limits.ts';
import { asStep, isBeforeRun } from '../run-calls.ts';
import { releaseLater } from '../settlement.ts';
import { upstreamProblem } from '../upstream-problem.ts';
import { ConversationBound } from './conversation-bound.ts';
import { realtimeWork } from './realtime-work.ts';
import { RealtimeSession } from './session.ts';
import { tokensIn } from './session-settings.ts';

const LEAST_OUTPUT_TOKENS = 16;

/** A connection that a client asks for. */
export interface SessionRequest {
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly startedAt: number;
  readonly startedTick: number;
  readonly model: string;
  readonly headers: InferenceHeaders;
  readonly grant: Caller;
  /** What a client secret has set. */
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** For each large event of the provider. */
  readonly newReservation: () => MemoryReservation;
  renew(): Promise<Caller>;
}

export interface OpenedSession {
  readonly session: RealtimeSession;
  /** Of the answer that agrees to the connection. */
  readonly headers: OutgoingHttpHeaders;
}

/**
 * Opens a session at a provider of the model, where a first response fits under all caps: what would refuse that one refuses the connection,
 * with a status.
 *
 * @throws Problem as `admit`, and those of providers
 */
export async function openSession(asked: SessionRequest, deps: InferenceDeps): Promise<OpenedSession> {
  requireRealtimeFields(asked.given ?? {}, 'session');
  const { admission, headers } = await tryFirst(firstCall(asked), deps);
  const { target, socket } = await connect(asked, admission, deps);
  const requestId = asked.clientRequestId ?? asked.requestId;
  const { headers: own, model, given, renew } = asked;
  const session = new RealtimeSession(socket, { requestId, headers: own, model, target, given, renew }, deps);
  const late = setTimeout(() => session.abandon(), deps.timeouts.streamFirstByteMs);
  try {
    await session.opened;
  } catch (thrown) {
    session.abandon();
    throw thrown;
  } finally {
    clearTimeout(late);
  }
  return { session, headers: { ...headers, 'x-model-served': target.model.id, 'x-provider': target.deployment.provider } };
}

function firstCall({ model, given = {}, ...asked }: SessionRequest): Call {
  const conversation = new ConversationBound({ contextWindow: null, imageTokenBound: null });
  conversation.configure(given);
  const { requestId, clientRequestId, startedAt, startedTick, grant, headers, signal } = asked;
  return {
    ...{ requestId, clientRequestId, startedAt, startedTick, grant, headers, signal, clientSignature: null },
    receiptId: newReceiptId(startedAt),
    work: realtimeWork({
      model,
      inputTokens: conversation.of({}),
      // Many that are opened at once must not keep each other out.
      outputTokens: Math.min(LEAST_OUTPUT_TOKENS, tokensIn(given) ?? LEAST_OUTPUT_TOKENS),
      requestSha256: hash('sha256', '', 'hex'),
    }),
  };
}

/** Whether a response fits is found out now. Each is held when it is asked for. */
async function tryFirst(
  call: Call,
  deps: InferenceDeps,
): Promise<{ readonly admission: Admission; readonly headers: OutgoingHttpHeaders }> {
  if (isBeforeRun(call)) return asStep(call, deps, (step) => tryFirst(step, deps));
  deps.running.requireRoom(call);
  const admission = await admit(call, deps);
  await releaseLater(admission, deps);
  const { hold } = admission;
  return { admission, headers: { ...rateHeaders(hold.rates), ...agentRunHeaders(hold.lanes), ...call.run?.headers } };
}

type Connected = Pick<UpstreamConnection, 'socket'> & { readonly target: Target };

/** At the first provider that agrees. */
async function connect(asked: SessionRequest, { targets }: Admission, deps: InferenceDeps): Promise<Connected> {
  let last: UpstreamFault | undefined;
  for (const target of targets) {
    if (!deps.deployments.claim(target, deps.clock.now()) && last) continue;
    const began = performance.now();
    const opened = await connectTo(target, asked, deps);
    if (opened?.ok) {
      deps.deployments.answered(target, performance.now() - began, deps.clock.now());
      return { target, socket: opened.socket };
    }
    if (!opened) continue;
    last = opened;
    deps.deployments.failed(target, opened, deps.clock.now());
    const facts = { requestId: asked.requestId, deployment: target.deployment.name, kind: opened.kind, because: reasonOf(opened) };
    deps.log.warn(facts, 'a provider did not open a realtime session');
    if (!opened.retryable) break;
  }
  if (last) throw upstreamProblem(last);
  throw new Problem('no_provider_configured', `No provider of ${asked.model} has realtime sessions: name another model.`, {
    param: 'model',
  });
}

/** Undefined where the provider has none. */
async function connectTo({ deployment }: Target, asked: SessionRequest, deps: InferenceDeps) {
  return deployment.upstream.connect?.({
    model: deployment.upstreamModel,
    timeoutMs: deps.timeouts.streamFirstByteMs,
    signal: asked.signal,
    newReservation: asked.newReservation,
    via: viaWith(asked.headers.via, deps.gatewayId),
    traceparent: undefined,
    sandboxFault: asked.headers.sandboxFault,
  });
}
