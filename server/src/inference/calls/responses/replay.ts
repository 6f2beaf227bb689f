import type { ResponseItem } from '@tallygate/contract';
import { isRecord } from '../usage.ts';
import { type Json, outputOf } from './stored-responses.ts';

type Said = Json & { readonly type: string };

/**
 * The events that a response would have been told by, each text in one piece: for responses that were not streamed when they were made.
 * The same response always gets the same events, so `starting_after` finds its place again.
 */
export function replayOf(response: Json): Json[] {
  const { usage: _, ...known } = response;
  const begun = { ...known, status: 'in_progress', output: [], error: null, incomplete_details: null };
  const said: Said[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...outputOf(response).flatMap(eventsOfItem),
    ...finalEvent(response),
  ];
  return said.map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** OpenAI has no event for one that was cancelled: it is not complete, and its status says why. */
export function finalEvent(response: Json): Said[] {
  const { status } = response;
  if (status === 'cancelled') return [{ type: 'response.incomplete', response }];
  return status === 'completed' || status === 'incomplete' || status === 'failed' ? [{ type: `response.${status}`, response }] : [];
}

function eventsOfItem(item: ResponseItem, output_index: number): Said[] {
  const place = { item_id: item.id, output_index };
  const { inside, blank } = insideOf(item, place);
  return [
    { type: 'response.output_item.added', output_index, item: blank },
    ...inside,
    { type: 'response.output_item.done', output_index, item },
  ];
}

function insideOf(item: ResponseItem, place: Json): { inside: Said[]; blank: Json } {
  switch (item.type) {
    case 'message': {
      const parts = Array.isArray(item['content']) ? item['content'].filter(isRecord) : [];
      const inside = parts.flatMap((part, content_index) => eventsOfPart(part, { ...place, content_index }));
      return { inside, blank: { ...item, status: 'in_progress', content: [] } };
    }
    case 'function_call': {
      const text = item['arguments'];
      const type = 'response.function_call_arguments';
      return {
        inside: [
          { type: `${type}.delta`, ...place, delta: text },
          { type: `${type}.done`, ...place, name: item['name'], arguments: text },
        ],
        blank: { ...item, status: 'in_progress', arguments: '' },
      };
    }
    case 'custom_tool_call': {
      const type = 'response.custom_tool_call_input';
      return {
        inside: [
          { type: `${type}.delta`, ...place, delta: item['input'] },
          { type: `${type}.done`, ...place, input: item['input'] },
        ],
        blank: { ...item, status: 'in_progress', input: '' },
      };
    }
    default:
      return { inside: [], blank: item };
  }
}

function eventsOfPart(part: Json, place: Json): Said[] {
  const isRefusal = part['type'] === 'refusal';
  const text = isRefusal ? part['refusal'] : part['text'];
  const type = isRefusal ? 'response.refusal' : 'response.output_text';
  const logprobs = isRefusal ? {} : { logprobs: [] };
  const whole = isRefusal ? { refusal: text } : { text };
  const blank = isRefusal ? { ...part, refusal: '' } : { ...part, text: '' };
  return [
    { type: 'response.content_part.added', ...place, part: blank },
    { type: `${type}.delta`, ...place, delta: text, ...logprobs },
    { type: `${type}.done`, ...place, ...whole, ...logprobs },
    { type: 'response.content_part.done', ...place, part },
  ];
}
