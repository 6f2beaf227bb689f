import { CREATED, planAnswer } from '../completion.ts';
import type { Answer, Question } from '../dialect.ts';
import { type Fields, isFields } from '../fields.ts';
import { framed } from './events.ts';
import { saidIn } from './texts.ts';

/** OpenAI's Responses: a message of the same tokens as a chat, or the call that is demanded. */
export function responseAnswer({ turn, request, step, promptTokens }: Question): Answer {
  const plan = planAnswer(`resp_fake_${turn}`, asChat(request), step, promptTokens);
  const cut = plan.finishReason === 'length';
  const status = cut ? 'incomplete' : 'completed';
  const head = {
    id: plan.id,
    object: 'response',
    created_at: CREATED,
    error: null,
    instructions: null,
    model: plan.model,
    parallel_tool_calls: true,
    tool_choice: request['tool_choice'] ?? 'auto',
    tools: request['tools'] ?? [],
    temperature: 1,
    top_p: 1,
    metadata: {},
  };
  const begun = { ...head, status: 'in_progress', incomplete_details: null, output: [] };
  const items = itemsOf(plan.pieces, saidIn(plan), `${turn}`, status);
  const ended = {
    ...head,
    status,
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    output: items.map(({ item }) => item),
    usage: usageOf(plan.usage),
  };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap(({ item, said }, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
      ...said.map((event) => ({ ...event, item_id: item.id, output_index })),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: `response.${status}`, response: ended },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
  return {
    isStream: request['stream'] === true,
    exactUsage: () => plan.exact,
    leadingEvents: 4,
    plain: () => ended,
    events: () => framed(events, step, { isNamed: true }),
  };
}

interface Item {
  readonly item: { readonly id: string; readonly [member: string]: unknown };
  readonly said: readonly { readonly type: string; readonly [member: string]: unknown }[];
}

function itemsOf(pieces: ReturnType<typeof planAnswer>['pieces'], words: readonly string[], turn: string, status: string): Item[] {
  const text = words.join('');
  const at = { content_index: 0 };
  const part = (said: string) => ({ type: 'output_text', text: said, annotations: [], logprobs: [] });
  const message: Item = {
    item: { id: `msg_fake_${turn}`, type: 'message', role: 'assistant', status, content: [part(text)] },
    said: [
      { type: 'response.content_part.added', ...at, part: part('') },
      ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...at, text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part: part(text) },
    ],
  };
  const calls = pieces.flatMap((piece): Item[] => {
    if (piece.kind !== 'call') return [];
    const deltas = pieces.flatMap((one) => (one.kind === 'arguments' && one.index === piece.index ? [one.text] : []));
    const item = {
      id: `fc_fake_${turn}_${piece.index}`,
      type: 'function_call',
      status,
      call_id: `call_fake_${turn}_${piece.index}`,
      name: piece.name,
      arguments: deltas.join(''),
    };
    return [
      {
        item,
        said: [
          ...deltas.map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
          { type: 'response.function_call_arguments.done', name: piece.name, arguments: item.arguments },
        ],
      },
    ];
  });
  return [...(words.length > 0 ? [message] : []), ...calls];
}

/** The request in the words that the plan reads. */
function asChat({ max_output_tokens: bound, tools, tool_choice: choice, text, ...request }: Fields): Fields {
  const functions = (Array.isArray(tools) ? tools.filter(isFields) : []).map(({ type, ...tool }) => ({ type, function: tool }));
  const format = isFields(text) && isFields(text['format']) ? text['format'] : undefined;
  return {
    ...request,
    max_completion_tokens: bound,
    tools: functions,
    tool_choice: isFields(choice) ? { function: choice } : choice,
    response_format: format && { type: format['type'], json_schema: format },
  };
}

/** Chat's usage with the names of Responses, also when a script replaced it. */
function usageOf(usage: unknown): unknown {
  if (!isFields(usage)) return usage;
  return {
    input_tokens: usage['prompt_tokens'],
    input_tokens_details: usage['prompt_tokens_details'],
    output_tokens: usage['completion_tokens'],
    output_tokens_details: usage['completion_tokens_details'],
    total_tokens: usage['total_tokens'],
  };
}
