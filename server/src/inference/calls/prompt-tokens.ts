import { type Catalog, type CatalogModel, modelNotFound } from '../../money/catalog/index.ts';
import { countText } from './estimate.ts';
import type { Tokenizer } from './tokenizer.ts';

export interface PromptTokensDeps {
  readonly catalog: Catalog;
  readonly tokenizer: Tokenizer;
}

/** What a chat template adds, as OpenAI has published it: three tokens around each message, three before the answer. */
const TURN_TOKENS = 3;

interface CountedPrompt {
  /** Each is counted by itself. */
  readonly texts: readonly string[];
  readonly turns: number;
  readonly images: number;
  /** Of each image, where the catalogue does not say what one costs. */
  readonly imageTokens: number;
}

/** For the operations that count a prompt before it is sent. @throws Problem `model_not_found` */
export function countedModel(name: string, catalog: Catalog): CatalogModel {
  const model = catalog.find(name);
  if (!model) throw modelNotFound(name, catalog);
  return model;
}

/** The tokens of a prompt: its texts by the tokenizer, its images as the most that the catalogue allows one. */
export async function countPrompt(
  { texts, turns, images, imageTokens }: CountedPrompt,
  model: CatalogModel,
  tokenizer: Tokenizer,
): Promise<number> {
  let tokens = (turns + 1) * TURN_TOKENS + images * (model.imageTokenBound ?? imageTokens);
  for (const text of texts) tokens += await countText(text, model, tokenizer);
  return tokens;
}
