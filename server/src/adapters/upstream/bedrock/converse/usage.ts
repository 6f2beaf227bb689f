import { plainUsage } from '../../../../kernel/stated-usage.ts';
import { type Usage, usageOf } from '../../anthropic/usage.ts';
import { countIn, type Json, recordsIn } from '../../json-value.ts';

/**
 * Converse counts as Anthropic does: what was read from the cache and written to it stands beside `inputTokens`. Its names are AWS's own.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
 */
export function messageUsage(stated: unknown): Json | undefined {
  const usage = plainUsage(stated);
  if (!usage) return undefined;
  const { cache_write_input_tokens: written, cacheDetails, ...counts } = usage;
  if (written === undefined) return counts;
  const hour = recordsIn(cacheDetails)
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + (countIn(Number(inputTokens)) ?? 0), 0);
  return {
    ...counts,
    cache_creation_input_tokens: written,
    ...(hour > 0 && { cache_creation: { ephemeral_1h_input_tokens: hour } }),
  };
}

/** In OpenAI's form. */
export const chatUsage = (stated: unknown): Usage | undefined => usageOf(messageUsage(stated));
