import type { EmbeddingRequest, ReceiptUsage } from '@tallygate/contract';
import type { AnswerForm } from './answer-form.ts';
import { bytesBeside } from './cost-fields/index.ts';
import { countText } from './estimate.ts';
import { jsonForm } from './json-answer.ts';
import { JsonPassage } from './json-passage.ts';
import type { Received } from './operation.ts';
import { textSize, textsOf } from './text-inputs.ts';
import { isRecord, NO_USAGE, sidesOf, usedUsage } from './usage.ts';
import type { Work } from './work.ts';

/** What is added to each text at most (begin and end marks), tokens. */
const MARK_TOKENS = 4;
/** Of a vector, where the request does not say. No model that is sold has longer ones. */
const MOST_DIMENSIONS = 4096;
/** Some 6 MB as OpenAI writes them. */
const MOST_KEPT_NUMBERS = 2 ** 18;

/** Vectors for texts: all that costs is what goes in. */
export function embeddingWork(request: EmbeddingRequest, { sha256 }: Received): Work {
  const { count, bound, estimate } = textSize(request.input);
  const beside = MARK_TOKENS + bytesBeside('/v1/embeddings', request);
  const inputTokens = bound + count * beside;
  return {
    endpoint: '/v1/embeddings',
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream: false,
    ...(count * (request.dimensions ?? MOST_DIMENSIONS) > MOST_KEPT_NUMBERS && { isPassedOn: true }),
    needs: [],
    output: null,
    cheaper: 'shorten `input`',
    estimatedTokens: estimate,
    dialects: [{ endpoint: '/v1/embeddings', request, form: FORM }],
    bound: () => ({ inputTokens }),
    async countedBound(model, tokenizer) {
      const texts = textsOf(request.input);
      if (!texts || !model.tokenizer) return undefined;
      const counted = await tokenizer.count(model.tokenizer, texts.join('\u0000'));
      return counted === undefined ? undefined : { inputTokens: counted + count * beside };
    },
    async estimate(model, _delivered, _bound, tokenizer) {
      const texts = textsOf(request.input);
      const counted = texts ? await countText(texts.join('\n'), model, tokenizer) : bound;
      return { ...NO_USAGE, input_tokens: Math.min(counted, inputTokens) };
    },
    requestSha256: sha256,
  };
}

/** Of an answer, which always has content. */
export const readEmbeddingUsage = (usage: unknown): ReceiptUsage | undefined => {
  const { input = 0, total = 0 } = sidesOf(usage);
  return usedUsage({ ...NO_USAGE, input_tokens: Math.max(input, total) });
};

const usageForClient = ({ input_tokens }: ReceiptUsage) => ({ prompt_tokens: input_tokens, total_tokens: input_tokens });

const FORM: AnswerForm = {
  ...jsonForm({ isAnswer: ({ data }) => Array.isArray(data) && data.length > 0, readUsage: readEmbeddingUsage, usageForClient }),
  openStream: () =>
    new JsonPassage({
      list: 'data',
      readUsage: readEmbeddingUsage,
      shownUsage: (reported, { usage, costUsd }) => ({ ...(isRecord(reported) ? reported : usageForClient(usage)), cost: costUsd }),
    }),
};
