import type { CountTokensRequest, contract } from '@tallygate/contract';
import type { Handlers } from '../../../http/index.ts';
import { breather } from '../../../kernel/turn.ts';
import { type Catalog, modelNotFound } from '../../../money/catalog/index.ts';
import { spellingCheckOf } from '../cost-fields/index.ts';
import { countText } from '../estimate.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { mediaOf, promptText } from './message-prompt.ts';

interface CountDeps {
  readonly catalog: Catalog;
  readonly tokenizer: Tokenizer;
}

const checkSpelling = spellingCheckOf('/v1/messages');

/** Where the catalogue does not say what an image costs: what Anthropic takes for the largest that it does not make smaller. */
const IMAGE_TOKENS = 1_600;
/** What a template adds around each turn, and in front of the answer. */
const TURN_TOKENS = 3;

export const messageTokenRoutes = (deps: CountDeps): Handlers<typeof contract.messageTokens> => ({
  countTokens: async ({ body }) => ({ status: 200, body: { input_tokens: await countTokens(body, deps) } }),
});

/** @throws Problem `model_not_found`, `validation_failed` */
async function countTokens(request: CountTokensRequest, { catalog, tokenizer }: CountDeps): Promise<number> {
  checkSpelling(request);
  const model = catalog.find(request.model);
  if (!model) throw modelNotFound(request.model, catalog);
  const rest = breather();
  const images = mediaOf(request).filter(({ kind }) => kind === 'image').length;
  const text = promptText(request);
  await rest();
  const tokens = await countText(text, model, tokenizer);
  return tokens + (request.messages.length + 1) * TURN_TOKENS + images * (model.imageTokenBound ?? IMAGE_TOKENS);
}
