import type { Words } from '../fault.ts';
import { openAiWords } from '../openai-fault.ts';

/** Cohere's errors are `{ id, message }`: of what a code would say, only that the prompt is too long can be told by its words. */
export function cohereWords(text: string): Words {
  const words = openAiWords(text);
  const isTooLong = /too many tokens|exceeds? the (?:model's )?(?:maximum )?context/i.test(words.message);
  return isTooLong ? { ...words, code: 'context_length_exceeded', param: 'messages' } : words;
}
