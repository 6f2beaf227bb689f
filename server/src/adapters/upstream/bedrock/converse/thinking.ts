import type { ChatCompletionRequest } from '@tallygate/contract';
import { withinBound } from '../../anthropic/thinking.ts';
import { isRecord, type Json, textIn } from '../../json-value.ts';
import type { Family } from '../model-family.ts';

/** With `high`, Nova 2 takes no bound on its tokens, which is what makes a cap binding. */
const NOVA_EFFORTS: Readonly<Record<string, string>> = { minimal: 'low', low: 'low' };

/**
 * `reasoning_effort`, or Anthropic's own `thinking` from callers who know it, in the words of the model's maker. Models of other makers
 * decide by themselves.
 */
export function thinkingFields(
  request: ChatCompletionRequest,
  { family, maxTokens }: { readonly family: Family; readonly maxTokens: number },
): Json | undefined {
  const own = request['thinking'];
  if (isRecord(own)) return { thinking: withinBound(own, maxTokens) };
  const effort = textIn(request.reasoning_effort);
  if (effort === undefined || effort === 'none') return undefined;
  if (family === 'nova-2') return { reasoningConfig: { type: 'enabled', maxReasoningEffort: NOVA_EFFORTS[effort] ?? 'medium' } };
  return family === 'gpt' ? { reasoning_effort: effort } : undefined;
}
