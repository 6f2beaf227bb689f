import type { Json } from './event-data.ts';
import { isRecord } from './usage.ts';

export const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

export const choicesOf = (chunk: Json | undefined): Json[] => (Array.isArray(chunk?.['choices']) ? chunk['choices'].filter(isRecord) : []);

/** Everything in a chunk (or a whole answer) that the model wrote, in a chat or in the older completions. */
export function textOfChunk(chunk: Json | undefined): string {
  return choicesOf(chunk)
    .map((choice) => textOr(choice['text'], '') + textOfMessage(choice['delta'] ?? choice['message']))
    .join('');
}

function textOfMessage(message: unknown): string {
  if (!isRecord(message)) return '';
  const written = ['content', 'reasoning_content', 'reasoning', 'refusal'].map((field) => textOr(message[field], ''));
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'].filter(isRecord) : [];
  const called = calls.map(({ function: called }) =>
    isRecord(called) ? textOr(called['name'], '') + textOr(called['arguments'], '') : '',
  );
  return [...written, ...called].join('');
}
