import type { ReceiptUsage } from '@tallygate/contract';
import type { Admission } from './admission.ts';
import { choiceCount } from './call.ts';
import type { Target } from './deployments.ts';
import { inputTokenBound, promptText } from './input-bound.ts';
import type { Tokenizer } from './tokenizer.ts';

const BYTES_PER_TOKEN = 4;

/**
 * Our own count where the provider sent none: the prompt and what was delivered, by OpenAI's tokenizer where there is time for it, else a
 * token for four bytes. Never more than what is held.
 */
export async function estimateUsage(
  admission: Admission,
  { model }: Target,
  delivered: { text: string; scale: number },
  tokenizer: Tokenizer,
): Promise<ReceiptUsage> {
  const { call, size, maxOutputTokens } = admission;
  const encoding = model.tokenizer ?? 'o200k_base';
  const count = async (text: string) => (await tokenizer.count(encoding, text)) ?? Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
  const [prompt, output] = await Promise.all([count(promptText(call.request)), delivered.text === '' ? 0 : count(delivered.text)]);
  return {
    input_tokens: Math.min(prompt + size.images * (model.imageTokenBound ?? 0), inputTokenBound(model, size)),
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: Math.min(Math.ceil(output * delivered.scale), maxOutputTokens * choiceCount(call.request)),
    reasoning_tokens: 0,
  };
}
