import { statedUsage } from '../../kernel/stated-usage.ts';
import type { Json } from './event-data.ts';
import { isRecord, sidesOf } from './usage.ts';

export const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

export const choicesOf = (chunk: Json | undefined): Json[] => (Array.isArray(chunk?.['choices']) ? chunk['choices'].filter(isRecord) : []);

/** By choice: Moonshot for one tells of usage there. */
export type ChoiceUsages = Map<unknown, Json>;

/** The usage in a chunk, or a whole answer. @param before what earlier chunks have told of in their choices */
export function usageOfChunk(chunk: Json | undefined, before: ChoiceUsages = new Map()): unknown {
  let isInChoice = false;
  for (const choice of choicesOf(chunk)) {
    const usage = usageOfChoice(choice);
    if (!usage) continue;
    before.set(choice['index'], usage);
    isInChoice = true;
  }
  return statedUsage(chunk) ?? (isInChoice ? addedUsage([...before.values()]) : undefined);
}

/** In the choice, or in what it says. */
const usageOfChoice = ({ usage, delta, message }: Json): Json | undefined => [usage, ...[delta, message].map(statedUsage)].find(isRecord);

/** Each choice tells of the one prompt, and of what came out for it. */
function addedUsage(usages: readonly Json[]): Json | undefined {
  if (usages.length === 1) return usages[0];
  const sides = usages.map((usage) => sidesOf(usage));
  const completion_tokens = sides.reduce((sum, { output = 0 }) => sum + output, 0);
  return { prompt_tokens: Math.max(...sides.map(({ input = 0 }) => input)), completion_tokens };
}

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
