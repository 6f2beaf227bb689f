import type { EmbeddingRequest } from '@tallygate/contract';
import { countText } from './estimate.ts';
import { jsonForm } from './json-answer.ts';
import type { Received } from './operation.ts';
import { textSize, textsOf } from './text-inputs.ts';
import { isCount, isRecord, NO_USAGE } from './usage.ts';
import type { Work } from './work.ts';

/** What is added to each text at most (begin and end marks), tokens. */
const MARK_TOKENS = 4;

/** Vectors for texts: all that costs is what goes in. */
export function embeddingWork(request: EmbeddingRequest, { sha256 }: Received): Work {
  const { count, bound, estimate } = textSize(request.input);
  const inputTokens = bound + count * MARK_TOKENS;
  return {
    endpoint: '/v1/embeddings',
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream: false,
    needs: [],
    output: null,
    estimatedTokens: estimate,
    dialects: [{ endpoint: '/v1/embeddings', request, form: FORM }],
    bound: () => ({ inputTokens }),
    async countedBound(model, tokenizer) {
      const texts = textsOf(request.input);
      if (!texts || !model.tokenizer) return undefined;
      const counted = await tokenizer.count(model.tokenizer, texts.join('\u0000'));
      return counted === undefined ? undefined : { inputTokens: counted + count * MARK_TOKENS };
    },
    async estimate(model, _delivered, _bound, tokenizer) {
      const texts = textsOf(request.input);
      const counted = texts ? await countText(texts.join('\n'), model, tokenizer) : bound;
      return { ...NO_USAGE, input_tokens: Math.min(counted, inputTokens) };
    },
    requestSha256: sha256,
  };
}

const FORM = jsonForm({
  isAnswer: ({ data }) => Array.isArray(data) && data.length > 0,
  readUsage: (usage) =>
    isRecord(usage) && isCount(usage['prompt_tokens']) ? { ...NO_USAGE, input_tokens: usage['prompt_tokens'] } : undefined,
  usageForClient: ({ input_tokens }) => ({ prompt_tokens: input_tokens, total_tokens: input_tokens }),
});
