import type { RequestAttempt } from '@tallygate/contract';
import type { Span } from '../adapters/telemetry/port.ts';
import { type Call, isLive, keyIdOf, type Served } from '../inference/calls/index.ts';
import { formatUsd, type NanoUsd } from '../kernel/money.ts';
import { spanIdOf, type TraceContext } from '../kernel/trace-context.ts';

/** `gen_ai.operation.name` of each endpoint; the semantic conventions name the first three. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'text_completion',
  '/v1/embeddings': 'embeddings',
  '/v1/responses': 'chat',
};

/** What is known of a call once it is settled. */
export interface SettledCall {
  readonly call: Call;
  readonly served: Served;
  readonly cost: NanoUsd;
  /** Epoch milliseconds. */
  readonly endedAt: number;
}

/**
 * The trace of a settled call: the request, its admission, each call to a provider, and its settlement. Made when all is over, from what the
 * trace of `GET /v1/requests/{id}` is made of: nothing is measured for it. By the GenAI semantic conventions of OpenTelemetry.
 */
export function spansOf({ call, served, cost, endedAt }: SettledCall, trace: TraceContext): Span[] {
  const { requestId, startedAt, work } = call;
  const { attempts, completedAt, outcome } = served;
  const operation = OPERATIONS[work.endpoint] ?? work.endpoint.replace('/v1/', '');
  const { traceId } = trace;
  const root = spanIdOf(requestId, 'root');
  const inside = (name: string, startMs: number, endMs: number): Span => ({
    ...{ traceId, spanId: spanIdOf(requestId, name), parentSpanId: root, name, kind: 'internal', startMs, endMs, attributes: {} },
  });
  return [
    {
      ...{ traceId, spanId: root, parentSpanId: trace.parentSpanId, kind: 'server', startMs: startedAt, endMs: endedAt },
      name: `${operation} ${work.model}`,
      attributes: { 'gen_ai.operation.name': operation, ...requestAttributes(call, served, cost) },
      isError: outcome === 'failed',
    },
    inside('admission', startedAt, startedAt + (attempts[0]?.started_ms ?? completedAt - startedAt)),
    ...attempts.map((attempt, index) => attemptSpan(attempt, index, { call, served, operation, traceId, root })),
    inside('settlement', completedAt, endedAt),
  ];
}

function requestAttributes(call: Call, { target, usage, outcome, fallback, estimated }: Served, cost: NanoUsd): Span['attributes'] {
  const { principal } = call.grant;
  return {
    'http.request.method': 'POST',
    'http.route': call.work.endpoint,
    'gen_ai.request.model': call.work.model,
    'gen_ai.response.model': target.model.id,
    'gen_ai.provider.name': target.deployment.provider,
    'gen_ai.usage.input_tokens': usage.input_tokens,
    'gen_ai.usage.output_tokens': usage.output_tokens,
    'tallygate.request_id': call.requestId,
    'tallygate.receipt_id': call.receiptId,
    'tallygate.account_id': principal.accountId,
    'tallygate.key_id': keyIdOf(principal) ?? undefined,
    'tallygate.livemode': isLive(principal),
    'tallygate.run_id': call.headers.runId ?? undefined,
    'tallygate.outcome': outcome,
    'tallygate.fallback': fallback,
    'tallygate.usage_estimated': estimated,
    'tallygate.cost_usd': formatUsd(cost),
  };
}

interface Around extends Pick<SettledCall, 'call' | 'served'> {
  readonly operation: string;
  readonly traceId: string;
  /** The span of the request. */
  readonly root: string;
}

function attemptSpan(attempt: RequestAttempt, index: number, { call, served, operation, traceId, root }: Around): Span {
  const startMs = call.startedAt + attempt.started_ms;
  const isLast = index === served.attempts.length - 1;
  const firstByteMs = startMs + attempt.duration_ms;
  const hasAnswered = attempt.outcome === 'answered';
  return {
    ...{ traceId, spanId: spanIdOf(call.requestId, attemptName(index)), parentSpanId: root, kind: 'client' },
    name: `${operation} ${attempt.model}`,
    startMs,
    // An answer is read after its first byte, until it is settled.
    endMs: hasAnswered && isLast ? Math.max(firstByteMs, served.completedAt) : firstByteMs,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.request.model': attempt.model,
      'gen_ai.provider.name': attempt.provider,
      'http.response.status_code': attempt.status ?? undefined,
      'error.type': hasAnswered ? undefined : attempt.outcome,
      'tallygate.deployment': attempt.deployment,
      'tallygate.first_byte_ms': attempt.duration_ms,
    },
    isError: !hasAnswered,
  };
}

export const attemptName = (index: number): string => `attempt ${index}`;
