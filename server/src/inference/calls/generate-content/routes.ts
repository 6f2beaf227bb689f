import type { CountContentTokensRequest, contract, GoogleModel, Model } from '@tallygate/contract';
import type { Handlers } from '../../../http/index.ts';
import { indexInList } from '../../../kernel/page.ts';
import { NONE_WRITTEN } from '../../../kernel/tool-arguments.ts';
import { breather } from '../../../kernel/turn.ts';
import type { ShownModels } from '../../../money/catalog/index.ts';
import { promptText } from '../input-bound.ts';
import { countedModel, countPrompt, type PromptTokensDeps } from '../prompt-tokens.ts';
import { chatsOf } from './chat-dialects.ts';

interface ModelDeps extends PromptTokensDeps {
  readonly shown: ShownModels;
}

/** Where the catalogue does not say what an image costs: what Google takes for one tile. */
const IMAGE_TOKENS = 258;

export const googleModelRoutes = (deps: ModelDeps): Handlers<typeof contract.googleModels> => ({
  list: async ({ principal, query: { pageSize, pageToken } }) => {
    const models = deps.shown.list(principal, false).map(toGoogle);
    const ids = models.map(({ baseModelId }) => baseModelId);
    const begin = pageToken === undefined ? 0 : indexInList(pageToken, ids, 'pageToken') + 1;
    const page = models.slice(begin, begin + pageSize);
    const last = page.at(-1)?.baseModelId;
    return {
      status: 200,
      body: { models: page, ...(last !== undefined && begin + page.length < models.length && { nextPageToken: last }) },
    };
  },
  get: async ({ params }) => ({ status: 200, body: toGoogle(deps.shown.get(params.model)) }),
  countTokens: async ({ params, body }) => ({ status: 200, body: { totalTokens: await countTokens(params.model, body, deps) } }),
});

const METHODS = [
  ['/v1/chat/completions', 'generateContent'],
  ['/v1/chat/completions', 'streamGenerateContent'],
  ['/v1/chat/completions', 'countTokens'],
  ['/v1/embeddings', 'embedContent'],
  ['/v1/embeddings', 'batchEmbedContents'],
] as const;

const toGoogle = ({ id, endpoints, context_length, max_output_tokens }: Model): GoogleModel => ({
  name: `models/${id}`,
  baseModelId: id,
  version: '1',
  displayName: id,
  ...(context_length !== null && { inputTokenLimit: context_length }),
  ...(max_output_tokens !== null && { outputTokenLimit: max_output_tokens }),
  supportedGenerationMethods: METHODS.flatMap(([endpoint, method]) => (endpoints.includes(endpoint) ? [method] : [])),
});

/** @throws Problem `model_not_found`, `validation_failed` */
async function countTokens(name: string, body: CountContentTokensRequest, { catalog, tokenizer }: ModelDeps): Promise<number> {
  const model = countedModel(name, catalog);
  const rest = breather();
  const request = body.generateContentRequest ?? { contents: body.contents ?? [] };
  const { google: chat } = chatsOf({ request, model: name, isStream: false, written: NONE_WRITTEN });
  await rest();
  const text = promptText(chat);
  await rest();
  const images = chat.messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => type === 'image_url').length;
  return countPrompt({ texts: [text], turns: chat.messages.length, images, imageTokens: IMAGE_TOKENS }, model, tokenizer);
}
