import type { ResponseItem } from '@tallygate/contract';

/** Marks a compaction item as ours: a provider's own are passed through as they are. */
const MARK = 'tgc1.';

/** The one item in place of a dialogue. It is not secret: it holds a summary of what its caller has said and read. */
export const compactionItem = (id: string, summary: string): ResponseItem => ({
  id,
  type: 'compaction',
  encrypted_content: `${MARK}${Buffer.from(summary, 'utf8').toString('base64url')}`,
});

/** What a model reads in the place of a compaction item of ours. */
export function expandCompaction(item: ResponseItem): ResponseItem {
  const content = item['encrypted_content'];
  if (item.type !== 'compaction' || typeof content !== 'string' || !content.startsWith(MARK)) return item;
  const summary = Buffer.from(content.slice(MARK.length), 'base64url').toString('utf8');
  const text = `Summary of the conversation before this point:\n\n${summary}`;
  return { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] };
}

export const SUMMARISE =
  'You compact long conversations. Write down everything that is needed to go on with this one: who wants what, facts and numbers, decisions with their reasons, what tools were called and what they gave, what is still open. Write the summary alone, in the conversation’s language.';
export const SUMMARISE_NOW = 'Write the summary of the conversation above now.';
