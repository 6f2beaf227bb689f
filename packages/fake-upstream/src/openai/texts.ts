import { CREATED, type Plan, planAnswer } from '../completion.ts';
import type { Answer, Question } from '../dialect.ts';
import { inflated } from '../inflated.ts';
import { framed } from './events.ts';

/** OpenAI's older completions: the same tokens as a chat, for every prompt. */
export function completionAnswer({ turn, request, step, promptTokens }: Question): Answer {
  const { prompt } = request;
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1;
  const n = typeof request['n'] === 'number' ? request['n'] : 1;
  const plan = planAnswer(`cmpl-fake-${turn}`, { ...request, n: n * prompts }, step, promptTokens * prompts);
  const pieces = saidIn(plan);
  const head = { id: plan.id, object: 'text_completion', created: CREATED, model: plan.model };
  const choices = Array.from({ length: plan.choices }, (_, index) => index);
  const choice = (index: number, text: string, finish_reason: string | null) => ({ index, text, logprobs: null, finish_reason });
  return {
    isStream: request['stream'] === true,
    exactUsage: () => plan.exact,
    plain: () => ({ ...head, choices: choices.map((index) => choice(index, pieces.join(''), plan.finishReason)), usage: plan.usage }),
    events: () =>
      framed(
        [
          ...pieces.flatMap((text) => choices.map((index) => ({ ...head, choices: [choice(index, text, null)] }))),
          ...choices.map((index) => ({ ...head, choices: [choice(index, '', plan.finishReason)] })),
          ...(plan.usage === undefined ? [] : [{ ...head, choices: [], usage: plan.usage }]),
        ],
        step,
        { isNamed: false, endsInDone: true },
      ),
  };
}

/** The words of a plan. */
export const saidIn = (plan: Plan): string[] => plan.pieces.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : []));

const DIMENSIONS = 4;

/** Vectors that are all alike and of length one; ten tokens for each input. */
export function embeddingAnswer({ request, step, promptTokens }: Question): Answer {
  const { input, dimensions = DIMENSIONS, encoding_format: format } = request;
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
  const vector = Array.from({ length: Number(dimensions) }, () => Math.fround(1 / Math.sqrt(Number(dimensions))));
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  const embedding = format === 'base64' ? bytes.toString('base64') : vector;
  const tokens = promptTokens * inputs;
  return never({
    object: 'list',
    data: Array.from({ length: inputs }, (_, index) => ({ object: 'embedding', index, embedding })),
    model: request['model'] ?? 'fake-model',
    usage: inflated({ prompt_tokens: tokens, total_tokens: tokens }, step),
  });
}

/** Nothing is flagged. */
export function moderationAnswer({ turn, request }: Question): Answer {
  const { input } = request;
  const inputs = Array.isArray(input) && typeof input[0] === 'string' ? input.length : 1;
  const result = {
    flagged: false,
    categories: { violence: false },
    category_scores: { violence: 0.001 },
    category_applied_input_types: { violence: ['text'] },
  };
  return never({ id: `modr-fake-${turn}`, model: request['model'] ?? 'fake-model', results: Array.from({ length: inputs }, () => result) });
}

/** An answer that is never streamed. */
export const never = (body: object | Uint8Array, contentType?: string): Answer => ({
  isStream: false,
  plain: () => body,
  events: () => [],
  ...(contentType !== undefined && { contentType }),
});
