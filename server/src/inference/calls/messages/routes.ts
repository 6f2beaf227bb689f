import type { CountTokensRequest, contract } from '@tallygate/contract';
import type { Handlers } from '../../../http/index.ts';
import { breather } from '../../../kernel/turn.ts';
import { spellingCheckOf } from '../cost-fields/index.ts';
import { countedModel, countPrompt, type PromptTokensDeps } from '../prompt-tokens.ts';
import { mediaOf, promptText } from './message-prompt.ts';

const checkSpelling = spellingCheckOf('/v1/messages');

/** Where the catalogue does not say what an image costs: what Anthropic takes for the largest that it does not make smaller. */
const IMAGE_TOKENS = 1_600;

export const messageTokenRoutes = (deps: PromptTokensDeps): Handlers<typeof contract.messageTokens> => ({
  countTokens: async ({ body }) => ({ status: 200, body: { input_tokens: await countTokens(body, deps) } }),
});

/** @throws Problem `model_not_found`, `validation_failed` */
async function countTokens(request: CountTokensRequest, { catalog, tokenizer }: PromptTokensDeps): Promise<number> {
  checkSpelling(request);
  const model = countedModel(request.model, catalog);
  const rest = breather();
  const images = mediaOf(request).filter(({ kind }) => kind === 'image').length;
  const text = promptText(request);
  await rest();
  return countPrompt({ texts: [text], turns: request.messages.length, images, imageTokens: IMAGE_TOKENS }, model, tokenizer);
}
