import type { ChatCompletionRequest, ReceiptUsage } from '@tallygate/contract';
import type { CatalogModel } from '../../money/catalog/index.ts';
import type { Delivered } from './answer-form.ts';
import { chatForm } from './chat-form.ts';
import { BYTES_PER_TOKEN, countText, ROUGH_BYTES_PER_TOKEN } from './estimate.ts';
import { boundText, inputTokenBound, messageText, type PromptSize, promptSize, promptText } from './input-bound.ts';
import type { Received } from './operation.ts';
import { requirementsOf } from './requirements.ts';
import { newChatId } from './responses/ids.ts';
import { askedTier } from './service-tier.ts';
import { thinkingBeside } from './thinking-beside.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { Work } from './work.ts';

/** @param audioTokens of the audio in the request; undefined where nobody has measured it */
export function chatWork(
  request: ChatCompletionRequest,
  { bytes, sha256 }: Pick<Received, 'bytes' | 'sha256'>,
  audioTokens?: number,
): Work {
  const size = promptSize(request, bytes, audioTokens);
  const choices = request.n ?? 1;
  const asked = requestedBound(request);
  const predicted = predictionBytes(request);
  const thinkingTokens = (model: CatalogModel) => thinkingBeside(model, request['thinking_budget']);
  const bound = (model: CatalogModel, inputTokens: number) => {
    const fixedOutputTokens = predicted + thinkingTokens(model) * choices;
    return { inputTokens, ...(fixedOutputTokens > 0 && { fixedOutputTokens }) };
  };
  return {
    endpoint: '/v1/chat/completions',
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream: request.stream === true,
    serviceTier: askedTier(request.service_tier),
    needs: requirementsOf(request),
    output: { asked: asked.tokens, choices, roughPromptTokens: Math.ceil(size.textBytes / ROUGH_BYTES_PER_TOKEN) },
    cheaper: `lower \`${asked.param}\`${choices > 1 ? ' or `n`' : ''}, or shorten \`messages\``,
    estimatedTokens: Math.ceil(size.textBytes / BYTES_PER_TOKEN),
    dialects: [
      {
        endpoint: '/v1/chat/completions',
        request: withoutStore(request),
        form: chatForm(request, undefined, request['store'] === true ? newChatId() : undefined),
      },
    ],
    thinkingTokens,
    promptText: { param: 'messages', text: () => messageText(request) },
    bound: (model) => bound(model, inputTokenBound(model, size)),
    async countedBound(model, tokenizer) {
      if (size.isOpenEnded || !model.tokenizer) return undefined;
      const tokens = await tokenizer.count(model.tokenizer, boundText(request));
      return tokens === undefined ? undefined : bound(model, inputTokenBound(model, { ...size, textBytes: tokens }));
    },
    estimate: (model, delivered, maxOutputTokens, tokenizer) =>
      estimateUsage({ request, size, model, delivered, mostOutput: ((maxOutputTokens ?? 0) + thinkingTokens(model)) * choices }, tokenizer),
    requestSha256: sha256,
  };
}

/** What is stored is stored here, and not at the provider. Metadata is for what is stored. */
function withoutStore(request: ChatCompletionRequest): ChatCompletionRequest {
  if (request['store'] === undefined) return request;
  const { store: _, metadata: __, ...sent } = request;
  return sent;
}

/** The bound that the caller asks for, of one choice. */
function requestedBound({ max_tokens: old, max_completion_tokens: current }: ChatCompletionRequest) {
  const bounds = [old, current].filter((bound) => typeof bound === 'number');
  const tokens = bounds.length === 0 ? undefined : Math.min(...bounds);
  return { tokens, param: tokens !== undefined && current === tokens ? 'max_completion_tokens' : 'max_tokens' };
}

/** Rejected tokens of a predicted output are billed as output on top of the answer: at most as many as the prediction has bytes. */
const predictionBytes = (request: ChatCompletionRequest): number =>
  request['prediction'] ? Buffer.byteLength(JSON.stringify(request['prediction'])) : 0;

interface Estimated {
  readonly request: ChatCompletionRequest;
  readonly size: PromptSize;
  readonly model: CatalogModel;
  readonly delivered: Delivered;
  readonly mostOutput: number;
}

async function estimateUsage({ request, size, model, delivered, mostOutput }: Estimated, tokenizer: Tokenizer): Promise<ReceiptUsage> {
  const [prompt, output] = await Promise.all([
    countText(promptText(request), model, tokenizer),
    countText(delivered.text, model, tokenizer),
  ]);
  return {
    input_tokens: Math.min(prompt + size.audioTokens + size.images * (model.imageTokenBound ?? 0), inputTokenBound(model, size)),
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: Math.min(Math.ceil(output * delivered.scale), mostOutput),
    reasoning_tokens: 0,
  };
}
