import { textBytes } from '../../kernel/text-bytes.ts';
import type { CatalogModel } from '../../money/catalog/index.ts';
import type { Tokenizer } from './tokenizer.ts';

/** English text has about four bytes to a token. */
export const BYTES_PER_TOKEN = 4;
/** What text may have at least, roughly: for what nobody pays by. */
export const ROUGH_BYTES_PER_TOKEN = 2;

/** By OpenAI's tokenizer where there is time for it, else a token for four bytes. */
export async function countText(text: string, model: CatalogModel, tokenizer: Tokenizer): Promise<number> {
  if (text === '') return 0;
  const counted = await tokenizer.count(model.tokenizer ?? 'o200k_base', text);
  return counted ?? Math.ceil((await textBytes(text)) / BYTES_PER_TOKEN);
}
