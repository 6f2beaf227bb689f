import type { ResponseRequest } from '@tallygate/contract';
import { namedEvent, type StreamEvent } from '../composition.ts';
import { piecesOf, wordsOf } from '../tokens.ts';
import { type HostedItem, STEPS } from './hosted-calls.ts';
import { type CallItem, type MessageItem, type OutputItem, type ReasoningItem, textLogprobs } from './output.ts';
import { type ResponseHead, type ResponseState, responseObject } from './response.ts';

interface Event {
  readonly type: string;
  readonly [member: string]: unknown;
}

type Ended = Exclude<ResponseState, { status: 'in_progress' }>;

/** The response as OpenAI's events in OpenAI's order, numbered from 0 without gaps. */
export function responseEvents(head: ResponseHead, ended: Ended): StreamEvent[] {
  const begun = responseObject(head, { status: 'in_progress', output: [] });
  const events: Event[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...ended.output.flatMap((item, output_index) => itemEvents(item, output_index, head.request)),
    { type: `response.${ended.status}`, response: responseObject(head, ended) },
  ];
  const lastDelta = events.findLastIndex(isDelta);
  return events.map((event, index) => {
    const { type, ...members } = event;
    const part = isDelta(event) ? 'content' : index > Math.max(1, lastDelta) ? 'closing' : 'opening';
    return { part, text: () => namedEvent({ type, sequence_number: index, ...members }) };
  });
}

const isDelta = ({ type }: Event): boolean => type.endsWith('.delta');

function itemEvents(item: OutputItem, output_index: number, request: ResponseRequest): Event[] {
  const { begun, said } = partsOf(item, output_index, request);
  return [
    { type: 'response.output_item.added', output_index, item: begun },
    ...said,
    { type: 'response.output_item.done', output_index, item },
  ];
}

/** The item before anything is said, and the events that say it. */
function partsOf(item: OutputItem, output_index: number, request: ResponseRequest): { begun: object; said: Event[] } {
  switch (item.type) {
    case 'reasoning':
      return { begun: { ...item, summary: [] }, said: summaryEvents(item, output_index) };
    case 'message':
      return { begun: { ...item, status: 'in_progress', content: [] }, said: messageEvents(item, output_index, request) };
    case 'function_call':
      return { begun: { ...item, status: 'in_progress', arguments: '' }, said: callEvents(item, output_index) };
    case 'custom_tool_call':
      return { begun: { ...item, status: 'in_progress', input: '' }, said: callEvents(item, output_index) };
    case 'web_search_call':
    case 'file_search_call':
    case 'code_interpreter_call':
    case 'image_generation_call':
    case 'mcp_list_tools':
    case 'mcp_call':
    case 'shell_call':
    case 'shell_call_output':
      return { begun: { ...item, status: 'in_progress' }, said: hostedEvents(item, output_index) };
    default:
      return item satisfies never;
  }
}

const hostedEvents = ({ id, type }: HostedItem, output_index: number): Event[] =>
  STEPS[type].map((step) => ({ type: `response.${type}.${step}`, item_id: id, output_index }));

function summaryEvents({ id, summary }: ReasoningItem, output_index: number): Event[] {
  return summary.flatMap((part, summary_index): Event[] => {
    const at = { item_id: id, output_index, summary_index };
    return [
      { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
      ...wordsOf(part.text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
      { type: 'response.reasoning_summary_text.done', ...at, text: part.text },
      { type: 'response.reasoning_summary_part.done', ...at, part },
    ];
  });
}

function messageEvents({ id, content: [part] }: MessageItem, output_index: number, request: ResponseRequest): Event[] {
  const at = { item_id: id, output_index, content_index: 0 };
  if (part.type === 'refusal') {
    return [
      { type: 'response.content_part.added', ...at, part: { ...part, refusal: '' } },
      ...wordsOf(part.refusal).map((delta) => ({ type: 'response.refusal.delta', ...at, delta })),
      { type: 'response.refusal.done', ...at, refusal: part.refusal },
      { type: 'response.content_part.done', ...at, part },
    ];
  }
  return [
    { type: 'response.content_part.added', ...at, part: { ...part, text: '', logprobs: [] } },
    ...wordsOf(part.text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: textLogprobs(delta, request) })),
    { type: 'response.output_text.done', ...at, text: part.text, logprobs: part.logprobs },
    { type: 'response.content_part.done', ...at, part },
  ];
}

function callEvents(item: CallItem, output_index: number): Event[] {
  const at = { item_id: item.id, output_index };
  if (item.type === 'custom_tool_call') {
    return [
      ...piecesOf(item.input).map((delta) => ({ type: 'response.custom_tool_call_input.delta', ...at, delta })),
      { type: 'response.custom_tool_call_input.done', ...at, input: item.input },
    ];
  }
  return [
    ...piecesOf(item.arguments).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments },
  ];
}
