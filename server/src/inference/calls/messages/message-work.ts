import type { MessagesRequest, ReceiptUsage } from '@tallygate/contract';
import { NONE_WRITTEN, type WrittenArguments } from '../../../kernel/tool-arguments.ts';
import type { CatalogModel } from '../../../money/catalog/index.ts';
import type { Delivered } from '../answer-form.ts';
import { BYTES_PER_TOKEN, countText, ROUGH_BYTES_PER_TOKEN } from '../estimate.ts';
import { grownBytes, inputTokenBound, type PromptSize } from '../input-bound.ts';
import type { Received } from '../operation.ts';
import { thinkingBeside } from '../thinking-beside.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { NO_USAGE } from '../usage.ts';
import type { Work } from '../work.ts';
import { chatDialects, requireCostlessRest } from './chat-dialect.ts';
import { messageForm } from './message-form.ts';
import { boundText, messageNeeds, messagePromptSize, promptText } from './message-prompt.ts';

/**
 * @param written inputs of tools that are large
 * @throws Problem `unpriced_feature`, `validation_failed`
 */
export function messageWork(
  request: MessagesRequest,
  { bytes, sha256 }: Pick<Received, 'bytes' | 'sha256'>,
  written: WrittenArguments = NONE_WRITTEN,
): Work {
  requireCostlessRest(request);
  const size = messagePromptSize(request, bytes.length + grownBytes(request));
  const bound = (model: CatalogModel, inputTokens: number) => {
    const fixedOutputTokens = thinkingBeside(model);
    return { inputTokens, ...(fixedOutputTokens > 0 && { fixedOutputTokens }) };
  };
  return {
    endpoint: '/v1/messages',
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream: request.stream === true,
    needs: messageNeeds(request),
    output: { asked: request.max_tokens, choices: 1, roughPromptTokens: Math.ceil(size.textBytes / ROUGH_BYTES_PER_TOKEN) },
    cheaper: 'lower `max_tokens`, or shorten `messages`',
    estimatedTokens: Math.ceil(size.textBytes / BYTES_PER_TOKEN),
    dialects: [{ endpoint: '/v1/messages', request, form: messageForm }, ...chatDialects(request, written)],
    thinkingTokens: (model) => thinkingBeside(model),
    bound: (model) => bound(model, inputTokenBound(model, size)),
    async countedBound(model, tokenizer) {
      if (size.isOpenEnded || !model.tokenizer) return undefined;
      const tokens = await tokenizer.count(model.tokenizer, boundText(request));
      return tokens === undefined ? undefined : bound(model, inputTokenBound(model, { ...size, textBytes: tokens }));
    },
    estimate: (model, delivered, most, tokenizer) =>
      estimateUsage({ request, size, model, delivered, most: (most ?? 0) + thinkingBeside(model) }, tokenizer),
    requestSha256: sha256,
  };
}

interface Estimated {
  readonly request: MessagesRequest;
  readonly size: PromptSize;
  readonly model: CatalogModel;
  readonly delivered: Delivered;
  readonly most: number;
}

async function estimateUsage({ request, size, model, delivered, most }: Estimated, tokenizer: Tokenizer): Promise<ReceiptUsage> {
  const [prompt, output] = await Promise.all([
    countText(promptText(request), model, tokenizer),
    countText(delivered.text, model, tokenizer),
  ]);
  return {
    ...NO_USAGE,
    input_tokens: Math.min(prompt + size.images * (model.imageTokenBound ?? 0), inputTokenBound(model, size)),
    output_tokens: Math.min(Math.ceil(output * delivered.scale), most),
  };
}
