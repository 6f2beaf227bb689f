import type { CompletionRequest } from '@tallygate/contract';
import { Problem } from '../../kernel/problem.ts';
import { chatForm } from './chat-form.ts';
import { countText } from './estimate.ts';
import type { Received } from './operation.ts';
import { textSize, textsOf } from './text-inputs.ts';
import { NO_USAGE } from './usage.ts';
import type { Work } from './work.ts';

/** What is added to each prompt at most, tokens. */
const PROMPT_TOKENS = 8;

/** The older text completions. `best_of` makes as many as it says, and all of them are paid for. */
export function completionWork(request: CompletionRequest, { sha256 }: Received): Work {
  const { count, bound: promptTokens, estimate } = textSize(request.prompt);
  const each = Math.max(request.n ?? 1, request.best_of ?? 1);
  if (request.best_of && request.n && request.best_of < request.n) throw bestOfTooSmall(request.n);
  const suffix = request.suffix ? Buffer.byteLength(request.suffix) : 0;
  // Each prompt is billed once, however many choices are made of it.
  const inputTokens = promptTokens + count * (PROMPT_TOKENS + suffix);
  const choices = each * count;
  return {
    endpoint: '/v1/completions',
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream: request.stream === true,
    needs: [],
    output: { asked: request.max_tokens ?? DEFAULT_MAX_TOKENS, choices, roughPromptTokens: estimate },
    cheaper: `lower \`max_tokens\`${each > 1 ? `, \`${request.best_of ? 'best_of' : 'n'}\`` : ''}, or shorten \`prompt\``,
    estimatedTokens: estimate,
    dialects: [{ endpoint: '/v1/completions', request, form: chatForm(request, 'text_completion') }],
    bound: () => ({ inputTokens }),
    async countedBound(model, tokenizer) {
      const texts = textsOf(request.prompt);
      if (!texts || !model.tokenizer) return undefined;
      const counted = await Promise.all(texts.map((text) => tokenizer.count(model.tokenizer ?? 'cl100k_base', text)));
      if (counted.some((tokens) => tokens === undefined)) return undefined;
      return { inputTokens: counted.reduce<number>((sum, tokens) => sum + (tokens ?? 0), count * (PROMPT_TOKENS + suffix)) };
    },
    async estimate(model, delivered, maxOutputTokens, tokenizer) {
      const texts = textsOf(request.prompt);
      const prompt = texts ? await countText(texts.join('\n'), model, tokenizer) : promptTokens;
      const output = await countText(delivered.text, model, tokenizer);
      return {
        ...NO_USAGE,
        input_tokens: Math.min(prompt, inputTokens),
        // Of the ones that were not chosen nothing is seen.
        output_tokens: Math.min(Math.ceil((output * delivered.scale * each) / (request.n ?? 1)), (maxOutputTokens ?? 0) * choices),
      };
    },
    requestSha256: sha256,
  };
}

/** OpenAI's own default for this endpoint. */
const DEFAULT_MAX_TOKENS = 16;

function bestOfTooSmall(n: number): Problem {
  const msg = `Expected at least n, which is ${n}`;
  return new Problem('validation_failed', `\`best_of\` is too small: ${msg}.`, {
    param: 'best_of',
    errors: [{ loc: ['body', 'best_of'], msg, type: 'too_small' }],
  });
}
