import type { ResponseItem, ResponseRequest } from '@tallygate/contract';
import type { CatalogModel } from '../../../money/catalog/index.ts';
import { tooLong } from '../context-length.ts';
import { countText } from '../estimate.ts';
import { unescaped } from '../input-bound.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { withoutMedia } from './media.ts';
import { withoutOrphans } from './orphans.ts';
import { inputSize } from './response-input.ts';

/** What an item adds beside its text: role, separators. */
const ITEM_TOKENS = 8;
/** Kept free for the answer where the request says nothing of its length. */
const LEAST_ROOM_OUT = 1_024;

/**
 * The items as far as the model's window takes them. With `truncation: "auto"` the oldest are left out, and outputs of calls that went with
 * them; else what is too long is refused. Counted only where it might be too long at all.
 *
 * @param bytes of what is sent with all of them
 * @throws Problem `context_length_exceeded`
 */
export async function fitToWindow(
  request: ResponseRequest,
  items: readonly ResponseItem[],
  { bytes, model, tokenizer }: { bytes: number; model: CatalogModel | undefined; tokenizer: Tokenizer },
): Promise<readonly ResponseItem[]> {
  const window = model?.contextWindow;
  if (!model || !window || inputSize(request, { items, bytes }).textBytes <= window) return items;
  const { instructions, tools, text } = request;
  const around = await countText(unescaped([instructions, tools, text]), model, tokenizer);
  const counts = await Promise.all(
    items.map(async (item) => ITEM_TOKENS + (await countText(unescaped(withoutMedia(item)), model, tokenizer))),
  );
  const total = around + counts.reduce((sum, count) => sum + count, 0);
  if (request.truncation !== 'auto') {
    if (total <= window) return items;
    throw tooLong(total, model, 'input');
  }
  const room = window - around - Math.min(request.max_output_tokens ?? LEAST_ROOM_OUT, window / 2);
  let kept = 0;
  let from = items.length;
  while (from > 0 && kept + (counts[from - 1] ?? 0) <= room) {
    from -= 1;
    kept += counts[from] ?? 0;
  }
  if (from === items.length && items.length > 0) throw tooLong(total, model, 'input');
  return withoutOrphans(items.slice(from));
}
