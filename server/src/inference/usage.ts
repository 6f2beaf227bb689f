import { MAX_MODEL_TOKENS, type ReceiptUsage } from '@tallygate/contract';
import type { CatalogModel } from '../catalog/index.ts';

export const NO_USAGE: ReceiptUsage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};

/** Whether what a model answers is text, charged by its tokens. */
export const writesText = ({ kind }: Pick<CatalogModel, 'kind'>): boolean => kind === 'chat' || kind === 'completion';

/** What claims to be more than any model can take or give is no count. */
export const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_MODEL_TOKENS;
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const part = (details: unknown, name: string, most: number): number => {
  const value = isRecord(details) ? details[name] : undefined;
  return isCount(value) ? Math.min(value, most) : 0;
};

/**
 * The provider's usage in OpenAI's form, zero included; undefined where it is missing or cannot be a count (negative, a string, absurd).
 * Parts never exceed their whole, whatever the provider says. xAI and Google count what the model thought beside `completion_tokens`, and
 * bill it as output: there the total alone has all of it.
 */
export function readUsage(usage: unknown): ReceiptUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const {
    prompt_tokens: input,
    completion_tokens: completion,
    total_tokens: total,
    prompt_tokens_details: inputDetails,
    completion_tokens_details: outputDetails,
  } = usage;
  if (!isCount(input) || !isCount(completion)) return undefined;
  const output = isCount(total) ? Math.max(completion, total - input) : completion;
  const cached = part(inputDetails, 'cached_tokens', input);
  const written = part(inputDetails, 'cache_write_tokens', input - cached);
  const forAnHour = part(inputDetails, 'cache_write_1h_tokens', input - cached - written);
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    ...(forAnHour > 0 && { cache_write_1h_tokens: forAnHour }),
    output_tokens: output,
    reasoning_tokens: part(outputDetails, 'reasoning_tokens', output),
  };
}

/**
 * Our count for a stream that never reached its end, corrected by what the provider had said of the prompt by then: what it read from its
 * cache costs a tenth, and we cannot know of it.
 */
export function withPromptOf(usageSoFar: unknown, counted: ReceiptUsage): ReceiptUsage {
  const prompt = isRecord(usageSoFar) ? readUsage({ ...usageSoFar, completion_tokens: 0, total_tokens: null }) : undefined;
  return prompt ? { ...prompt, output_tokens: counted.output_tokens, reasoning_tokens: counted.reasoning_tokens } : counted;
}

/** OpenAI's usage as the client sees it: the provider's own, or one made from our count. */
export const usageForClient = (reported: unknown, usage: ReceiptUsage): Record<string, unknown> =>
  isRecord(reported)
    ? reported
    : {
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        total_tokens: usage.input_tokens + usage.output_tokens,
        prompt_tokens_details: { cached_tokens: usage.cached_input_tokens },
        completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
      };
