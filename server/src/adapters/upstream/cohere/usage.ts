import { plainUsage } from '../../../kernel/stated-usage.ts';
import { countIn, isRecord, type Json } from '../json-value.ts';

/** OpenAI's usage of a chat completion. */
export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  /** One of the counts was none: these are the least. */
  readonly is_partial?: true;
}

/**
 * Cohere's usage: what is billed. `tokens` beside it counts what Cohere itself puts around the prompt, and is taken where nothing else is
 * said. Undefined where no count is one.
 */
export function usageOf(stated: unknown): ChatUsage | undefined {
  const usage = plainUsage(stated);
  if (!usage) return undefined;
  const [counted, isPartial] = countsIn(usage);
  const input = countIn(counted['input_tokens']);
  const output = countIn(counted['output_tokens']);
  if (input === undefined && output === undefined) return undefined;
  const [prompt_tokens, completion_tokens] = [input ?? 0, output ?? 0];
  return {
    ...{ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    prompt_tokens_details: { cached_tokens: Math.min(countIn(usage['cached_tokens']) ?? 0, prompt_tokens) },
    ...((isPartial || input === undefined || output === undefined) && { is_partial: true }),
  };
}

function countsIn(usage: Json): readonly [Json, boolean] {
  const { billed_units: billed, tokens } = usage;
  const found = isRecord(billed) && countIn(billed['input_tokens']) !== undefined ? billed : isRecord(tokens) ? tokens : (billed ?? usage);
  return [isRecord(found) ? found : {}, usage['is_partial'] === true];
}
