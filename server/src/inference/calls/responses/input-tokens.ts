import type { InputTokensRequest } from '@tallygate/contract';
import { breather } from '../../../kernel/turn.ts';
import { spellingCheckOf } from '../cost-fields/index.ts';
import { unescaped } from '../input-bound.ts';
import { countedModel, countPrompt } from '../prompt-tokens.ts';
import { isRecord } from '../usage.ts';
import { mediaOf, withoutMedia } from './media.ts';
import { itemsOf, type ResponseDeps } from './prepared-response.ts';
import type { Owner } from './stored-responses.ts';

const checkSpelling = spellingCheckOf('/v1/responses');

/** Where the catalogue does not say what an image costs: what OpenAI's models take for one of high detail. */
const IMAGE_TOKENS = 1_105;

/**
 * The tokens of an input. Files are counted as the text that they hold in base64, which no provider publishes a better rule for.
 *
 * @throws Problem `model_not_found`, `not_found`, `validation_failed`
 */
export async function countInput(request: InputTokensRequest, owner: Owner, deps: ResponseDeps): Promise<number> {
  checkSpelling(request);
  const model = countedModel(request.model, deps.catalog);
  const { all } = await itemsOf(request, owner, deps);
  const rest = breather();
  const images = mediaOf(all).filter(({ kind }) => kind === 'image').length;
  const said: string[] = [];
  for (const item of all) {
    said.push(unescaped(spoken(withoutMedia(item))));
    await rest();
  }
  const around = [request.instructions, request.tools, request.text].filter((part) => part !== undefined && part !== null);
  const texts = [said.join('\n'), around.map(unescaped).join('\n')];
  return countPrompt({ texts, turns: all.length, images, imageTokens: IMAGE_TOKENS }, model, deps.tokenizer);
}

/** Of a message that is only text, the text alone is read by the model; of everything else, its form too. */
function spoken(item: unknown): unknown {
  if (!isRecord(item)) return item;
  const { content, role } = item;
  const parts = Array.isArray(content) ? content.map((part: unknown) => (isText(part) ? part.text : part)) : content;
  if ((item['type'] ?? 'message') !== 'message') return { ...item, id: undefined };
  return [role, parts];
}

const isText = (part: unknown): part is { readonly text: string } =>
  typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string';
