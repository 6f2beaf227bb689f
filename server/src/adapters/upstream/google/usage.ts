import { plainUsage } from '../../../kernel/stated-usage.ts';
import { countIn, type Json } from '../json-value.ts';

/** OpenAI's usage of a chat completion. */
export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
  /** One of the counts was none: these are the least. */
  readonly is_partial?: true;
}

/** Google's names, and those of servers that say it in OpenAI's. */
const COUNTS = {
  prompt: ['prompt_token_count', 'prompt_tokens', 'input_tokens'],
  fedBack: ['tool_use_prompt_token_count'],
  cached: ['cached_content_token_count'],
  candidates: ['candidates_token_count', 'completion_tokens', 'output_tokens'],
  thoughts: ['thoughts_token_count'],
  total: ['total_token_count', 'total_tokens'],
} as const;

/**
 * Google's `usageMetadata`. It counts thoughts beside the candidates and bills them as output; what its own tools fed back is input beside the
 * prompt; cached tokens are part of the prompt. A count of zero is left out of its JSON. Undefined where no count is one.
 */
export function usageOf(stated: unknown): ChatUsage | undefined {
  const metadata = plainUsage(stated);
  if (!metadata) return undefined;
  const isPartial = metadata['is_partial'] === true || hasNoCount(metadata);
  const count = (of: keyof typeof COUNTS): number => Math.max(0, ...COUNTS[of].map((name) => countIn(metadata[name]) ?? 0));
  const input = count('prompt') + count('fedBack');
  const thoughts = count('thoughts');
  const total = count('total');
  const parts = count('candidates') + thoughts;
  // A total alone says of nothing what it was.
  if (input === 0 && total > parts && !isPartial) return undefined;
  if (isPartial && input + parts === 0) return undefined;
  const output = isPartial && input === 0 ? parts : Math.max(parts, total - input);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: count('cached') },
    completion_tokens_details: { reasoning_tokens: thoughts },
    ...(isPartial && { is_partial: true }),
  };
}

/** Something that has the name of a count. */
const hasNoCount = (metadata: Json): boolean =>
  Object.values(COUNTS)
    .flat()
    .some((name) => metadata[name] !== undefined && metadata[name] !== null && countIn(metadata[name]) === undefined);

/** Of one that breaks off: what it counts beyond what was said before. */
export function laterUsage(earlier: ChatUsage | undefined, part: ChatUsage | undefined): ChatUsage | undefined {
  if (!earlier || !part || part.prompt_tokens > earlier.prompt_tokens) return part ?? earlier;
  const output = Math.max(earlier.completion_tokens, part.completion_tokens);
  return { ...earlier, completion_tokens: output, total_tokens: earlier.prompt_tokens + output };
}

/** Each event tells of all so far: of both sides the larger is taken. */
export function largerUsage(earlier: ChatUsage | undefined, later: ChatUsage): ChatUsage {
  if (!earlier || !isDecrease(earlier, later)) return later;
  const { prompt_tokens, prompt_tokens_details } = later.prompt_tokens < earlier.prompt_tokens ? earlier : later;
  const { completion_tokens, completion_tokens_details } = later.completion_tokens < earlier.completion_tokens ? earlier : later;
  const total_tokens = prompt_tokens + completion_tokens;
  return { ...later, prompt_tokens, prompt_tokens_details, completion_tokens, completion_tokens_details, total_tokens };
}

/** Whether what comes later contradicts what was counted before. */
export const isDecrease = (earlier: ChatUsage | undefined, later: ChatUsage): boolean =>
  earlier !== undefined && (later.prompt_tokens < earlier.prompt_tokens || later.completion_tokens < earlier.completion_tokens);
