import type { ResponseItem } from '@tallygate/contract';

/** The items without the outputs of calls that are not among them: providers refuse an output that answers nothing. */
export function withoutOrphans(items: readonly ResponseItem[]): ResponseItem[] {
  const called = new Set<unknown>();
  return items.filter((item) => {
    if (!item.type?.endsWith('_output')) {
      called.add(item['call_id']);
      return true;
    }
    return item['call_id'] === undefined || called.has(item['call_id']);
  });
}
