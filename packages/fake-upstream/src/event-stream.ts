import { CREATED, callId, logprobsOf, type Plan } from './completion.ts';
import type { StreamForm } from './step.ts';

type Piece = Plan['pieces'][number];

/** The answer as server-sent events, one string each: OpenAI's `chat.completion.chunk`s. */
export function* eventStream(plan: Plan, form: StreamForm, includesUsage: boolean): Generator<string> {
  const lineEnd = form.lineEnd ?? '\n';
  const ping = form.pings ? `: ping${lineEnd}${lineEnd}` : '';
  const frame = (data: string): string => `${ping}data: ${data}${lineEnd}${lineEnd}`;
  let sent = 0;
  for (const chunk of chunks(plan, form, includesUsage)) {
    if (sent === form.errorAfter) {
      yield frame(JSON.stringify({ error: { message: 'The scripted provider failed.', type: 'server_error', param: null, code: null } }));
      return;
    }
    yield frame(JSON.stringify(chunk));
    sent++;
  }
  if (form.done !== false) yield frame('[DONE]');
}

function* chunks(plan: Plan, form: StreamForm, includesUsage: boolean): Generator<object> {
  const usageAt = form.usageAt ?? 'own_chunk';
  const usage = includesUsage && plan.usage !== undefined ? { usage: usageAt === 'every_chunk' ? plan.usage : null } : {};
  const chunk = (choice: number, delta: object, finishReason: string | null, logprobs: object | null = null) => ({
    id: plan.id,
    object: 'chat.completion.chunk',
    created: CREATED,
    model: plan.model,
    choices: [{ index: choice, delta, logprobs, finish_reason: finishReason }],
    ...usage,
  });
  for (let choice = 0; choice < plan.choices; choice++) yield chunk(choice, { role: 'assistant', content: '', refusal: null }, null);
  for (const piece of plan.pieces) {
    const logprobs = plan.logprobs && piece.kind === 'text' ? logprobsOf([piece.text]) : null;
    for (let choice = 0; choice < plan.choices; choice++) yield chunk(choice, deltaOf(piece, choice), null, logprobs);
  }
  for (let choice = 0; choice < plan.choices; choice++) {
    const last = chunk(choice, {}, plan.finishReason);
    yield usageAt === 'last_choice' && choice === plan.choices - 1 && includesUsage ? { ...last, usage: plan.usage } : last;
  }
  if (includesUsage && usageAt === 'own_chunk' && plan.usage !== undefined) {
    yield { id: plan.id, object: 'chat.completion.chunk', created: CREATED, model: plan.model, choices: [], usage: plan.usage };
  }
}

function deltaOf(piece: Piece, choice: number): object {
  switch (piece.kind) {
    case 'text':
      return { content: piece.text };
    case 'reasoning':
      return { reasoning_content: piece.text };
    case 'call':
      return {
        tool_calls: [
          { index: piece.index, id: callId(choice, piece.index), type: 'function', function: { name: piece.name, arguments: '' } },
        ],
      };
    case 'arguments':
      return { tool_calls: [{ index: piece.index, function: { arguments: piece.text } }] };
    default:
      return piece satisfies never;
  }
}
