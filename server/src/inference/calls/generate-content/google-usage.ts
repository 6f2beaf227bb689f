import type { ReceiptUsage } from '@tallygate/contract';
import type { ShownCost } from '../answer-form.ts';
import type { Json } from '../event-data.ts';

/** What is settled, in Google's words: what was thought is counted beside the candidates. */
export const shownUsage = ({ usage, costUsd }: ShownCost): Json => ({ ...usageMetadata(usage), cost: costUsd });

export function usageMetadata({
  input_tokens: prompt,
  output_tokens: output,
  cached_input_tokens: cached,
  reasoning_tokens,
}: ReceiptUsage): Json {
  const thoughts = Math.min(reasoning_tokens, output);
  return {
    promptTokenCount: prompt,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    candidatesTokenCount: output - thoughts,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    totalTokenCount: prompt + output,
  };
}
