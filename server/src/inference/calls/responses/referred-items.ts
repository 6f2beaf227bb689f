import type { ResponseItem } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import type { Owner, StoredResponses } from './stored-responses.ts';

const isReference = ({ type }: ResponseItem): boolean => type === 'item_reference';

/**
 * The input with each `item_reference` replaced by the item it names: one of the dialogue so far, or of any response of the caller's that
 * is kept.
 *
 * @throws Problem `validation_failed` for an item that is not there
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
  return input.map((item, index) => {
    if (!isReference(item)) return item;
    const found = known.get(item.id ?? '') ?? kept.get(item.id ?? '');
    if (!found) throw invalidInput([{ loc: ['body', 'input', index, 'id'], msg: 'names no item that is kept', type: 'missing' }]);
    return found;
  });
}
