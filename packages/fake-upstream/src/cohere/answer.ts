import { callId, type Piece, type Plan, planAnswer } from '../completion.ts';
import type { Question } from '../dialect.ts';
import { type Fields, isFields } from '../fields.ts';
import type { StreamForm } from '../step.ts';

const REASONS: Readonly<Record<string, string>> = { stop: 'COMPLETE', length: 'MAX_TOKENS', tool_calls: 'TOOL_CALL' };

export interface ChatAnswer {
  readonly plan: Plan;
  readonly finishReason: string;
}

export function chatAnswer({ turn, request, step, promptTokens }: Question): ChatAnswer {
  const plan = planAnswer(`cohere-fake-${turn}`, asOpenAi(request), step, promptTokens);
  return { plan, finishReason: step.cohere?.finishReason ?? REASONS[plan.finishReason] ?? 'COMPLETE' };
}

/** What it asks of the model, as the planner reads it. */
function asOpenAi(request: Fields): Fields {
  const { tool_choice: choice, response_format: format } = request;
  const schema = isFields(format) ? format['json_schema'] : undefined;
  return {
    ...request,
    ...(choice === 'REQUIRED' && { tool_choice: 'required' }),
    ...(schema !== undefined && { response_format: { type: 'json_schema', json_schema: { schema } } }),
  };
}

/** What is billed, and beside it what Cohere itself put around the prompt. */
function usageOf({ usage }: Plan): Fields | undefined {
  if (!isFields(usage)) return undefined;
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details }: Fields = usage;
  return {
    billed_units: { input_tokens: input, output_tokens: output },
    tokens: { input_tokens: Number(input) + 70, output_tokens: Number(output) + 2 },
    cached_tokens: isFields(details) ? details['cached_tokens'] : 0,
  };
}

const joined = (pieces: readonly Piece[], kind: 'text' | 'reasoning'): string =>
  pieces.map((piece) => (piece.kind === kind ? piece.text : '')).join('');

const argumentsOf = (pieces: readonly Piece[], index: number): string =>
  pieces.map((piece) => (piece.kind === 'arguments' && piece.index === index ? piece.text : '')).join('');

const toolCall = (index: number, name: string, text: string): Fields => ({
  ...{ id: callId(0, index), type: 'function' },
  function: { name, arguments: text },
});

/** The answer as one JSON document. */
export function plainChat({ plan, finishReason }: ChatAnswer): Fields {
  const { pieces } = plan;
  const [thinking, text] = [joined(pieces, 'reasoning'), joined(pieces, 'text')];
  const calls = pieces.flatMap((piece) =>
    piece.kind === 'call' ? [toolCall(piece.index, piece.name, argumentsOf(pieces, piece.index))] : [],
  );
  const content = [...(thinking ? [{ type: 'thinking', thinking }] : []), ...(text ? [{ type: 'text', text }] : [])];
  const usage = usageOf(plan);
  return {
    id: plan.id,
    finish_reason: finishReason,
    message: { role: 'assistant', ...(content.length > 0 && { content }), ...(calls.length > 0 && { tool_calls: calls }) },
    ...(usage && { usage }),
  };
}

/** The answer as server-sent events, one string each, in the order of https://docs.cohere.com/v2/docs/streaming. */
export function* chatEvents(answer: ChatAnswer, form: StreamForm): Generator<string> {
  const lineEnd = form.lineEnd ?? '\n';
  const ping = form.pings ? `: ping${lineEnd}${lineEnd}` : '';
  const frame = (event: Fields): string => `event: ${String(event['type'])}${lineEnd}data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`;
  let sent = 0;
  for (const event of events(answer)) {
    if (sent === form.errorAfter) {
      yield frame({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'The generation failed.' } });
      return;
    }
    if (event['type'] === 'message-end' && form.done === false) return;
    yield ping + frame(event);
    sent++;
  }
}

function* events({ plan, finishReason }: ChatAnswer): Generator<Fields> {
  yield { type: 'message-start', id: plan.id, delta: { message: { role: 'assistant' } } };
  let open: string | undefined;
  for (const piece of plan.pieces) {
    const block = piece.kind === 'arguments' ? `call ${piece.index}` : piece.kind === 'call' ? `call ${piece.index}` : piece.kind;
    if (block !== open) {
      if (open !== undefined) yield closing(open);
      open = block;
      if (piece.kind !== 'call') yield contentStart(piece.kind);
    }
    yield eventOf(piece);
  }
  if (open !== undefined) yield closing(open);
  const usage = usageOf(plan);
  yield { type: 'message-end', delta: { finish_reason: finishReason, ...(usage && { usage }) } };
}

const contentStart = (kind: string): Fields => ({
  type: 'content-start',
  index: 0,
  delta: { message: { content: kind === 'reasoning' ? { type: 'thinking', thinking: '' } : { type: 'text', text: '' } } },
});

const closing = (block: string): Fields => ({ type: block.startsWith('call') ? 'tool-call-end' : 'content-end', index: 0 });

function eventOf(piece: Piece): Fields {
  switch (piece.kind) {
    case 'text':
      return { type: 'content-delta', index: 0, delta: { message: { content: { text: piece.text } } } };
    case 'reasoning':
      return { type: 'content-delta', index: 0, delta: { message: { content: { thinking: piece.text } } } };
    case 'call':
      return { type: 'tool-call-start', index: piece.index, delta: { message: { tool_calls: toolCall(piece.index, piece.name, '') } } };
    case 'arguments':
      return { type: 'tool-call-delta', index: piece.index, delta: { message: { tool_calls: { function: { arguments: piece.text } } } } };
    default:
      return piece satisfies never;
  }
}
