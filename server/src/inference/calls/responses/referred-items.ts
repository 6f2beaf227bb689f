import type { ResponseItem } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import { jsonLength } from '../../../kernel/written-json.ts';
import { MOST_BEFORE_BYTES, type Owner, type StoredResponses, tooLong } from './stored-responses.ts';

const isReference = ({ type }: ResponseItem): boolean => type === 'item_reference';

/**
 * The input with each `item_reference` replaced by the item it names: one of the dialogue so far, or of any response of the caller's that
 * is kept.
 *
 * @throws Problem `validation_failed` for an item that is not there; `payload_too_large`
 */
export async function resolveReferences(
  input: readonly ResponseItem[],
  { owner, before, responses }: { owner: Owner; before: readonly ResponseItem[]; responses: StoredResponses },
): Promise<ResponseItem[]> {
  if (!input.some(isReference)) return [...input];
  const known = new Map(before.flatMap((item) => (typeof item.id === 'string' ? [[item.id, item] as const] : [])));
  const wanted = input.filter(isReference).map(({ id }) => id ?? '');
  const kept = await responses.items(
    owner,
    wanted.filter((id) => !known.has(id)),
  );
  const sizes = new Map<ResponseItem, number>();
  const resolved: ResponseItem[] = [];
  let bytes = 0;
  for (const [index, item] of input.entries()) {
    if (!isReference(item)) {
      resolved.push(item);
      continue;
    }
    const found = known.get(item.id ?? '') ?? kept.get(item.id ?? '');
    if (!found) throw invalidInput([{ loc: ['body', 'input', index, 'id'], msg: 'names no item that is kept', type: 'missing' }]);
    // A hundred bytes may name ten megabytes, as often as there is room.
    const size = sizes.get(found) ?? (await jsonLength(found));
    sizes.set(found, size);
    bytes += size;
    if (bytes > MOST_BEFORE_BYTES) throw tooLong('input');
    resolved.push(found);
  }
  return resolved;
}
