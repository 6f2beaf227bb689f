import { type Json, recordsIn, textIn } from '../json-value.ts';
import type { ThinkingBlock } from './messages-api.ts';

/**
 * Thoughts with their signatures, as `reasoning_details` on messages and deltas: the form that OpenRouter brought into OpenAI's API. A caller
 * who sends the list back with the message lets the model go on from its own thoughts after a tool call. `index` is the block's place in the
 * answer. A stream of ours has the whole list in one delta; those of other gateways have pieces, where the same index belongs together.
 */
export interface ReasoningDetail {
  readonly type: 'reasoning.text' | 'reasoning.encrypted';
  readonly text?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly format: typeof FORMAT;
  readonly index: number;
}

const FORMAT = 'anthropic-claude-v1';

export const thought = (index: number, content: { text?: string; signature?: string }): ReasoningDetail => ({
  type: 'reasoning.text',
  ...content,
  format: FORMAT,
  index,
});

export const hiddenThought = (index: number, data: string): ReasoningDetail => ({
  type: 'reasoning.encrypted',
  data,
  format: FORMAT,
  index,
});

/** The thoughts that a caller sends back, joined where they are still the pieces of a stream. What bears no signature was not Claude's, and is left out. */
export function thinkingBlocks(details: unknown): ThinkingBlock[] {
  const joined = new Map<unknown, Json>();
  for (const [at, detail] of recordsIn(details).entries()) {
    if (detail['format'] !== undefined && detail['format'] !== FORMAT) continue;
    const place = detail['index'] ?? `detail ${at}`;
    const earlier = joined.get(place) ?? {};
    joined.set(place, {
      data: textIn(detail['data']) ?? earlier['data'],
      text: `${textIn(earlier['text']) ?? ''}${textIn(detail['text']) ?? ''}`,
      signature: textIn(detail['signature']) ?? earlier['signature'],
    });
  }
  return [...joined.values()].flatMap(({ data, text, signature }): ThinkingBlock[] => {
    if (typeof data === 'string') return [{ type: 'redacted_thinking', data }];
    return typeof signature === 'string' && typeof text === 'string' ? [{ type: 'thinking', thinking: text, signature }] : [];
  });
}
