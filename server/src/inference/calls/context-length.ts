import { Problem } from '../../kernel/problem.ts';
import type { Soon } from '../../kernel/soon.ts';
import type { CatalogModel } from '../../money/catalog/index.ts';
import type { Offer } from './offers.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { Work } from './work.ts';

/** A prompt that no provider would take: OpenAI's code, and OpenAI's words. */
export const tooLong = (tokens: number, { id, contextWindow }: Pick<CatalogModel, 'id' | 'contextWindow'>, param: string): Problem =>
  new Problem(
    'context_length_exceeded',
    `The maximum context length of ${id} is ${contextWindow} tokens, and \`${param}\` has ${tokens}: shorten it, or choose a model with a larger window.`,
    { param },
  );

/**
 * Refuses a prompt that is longer than the window of the model that was asked for, before anything is held. Only its text is counted, by the
 * tokenizer that its maker publishes, and only where its bytes do not fit; what nobody can count, the provider judges.
 *
 * @throws Problem `context_length_exceeded`
 */
export function requireWindow(work: Work, [asked]: readonly Offer[], tokenizer: Tokenizer): Soon<void> {
  const { promptText } = work;
  if (!promptText || !asked?.model.tokenizer || asked.model.id !== work.model) return undefined;
  const { model, bound } = asked;
  const window = model.contextWindow;
  if (!window || bound.inputTokens <= window) return undefined;
  return tokenizer.count(asked.model.tokenizer, promptText.text()).then((tokens) => {
    if (tokens !== undefined && tokens > window) throw tooLong(tokens, model, promptText.param);
  });
}
