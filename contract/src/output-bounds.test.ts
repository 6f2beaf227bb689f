import { expect, test } from 'vitest';
import { ChatCompletionRequest, CompletionRequest, ResponseRequest } from './index.ts';

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
const COMPLETION = { model: 'gpt-3.5-turbo-instruct', prompt: 'Hello' };

test.each([
  [ChatCompletionRequest, CHAT, 'max_tokens'],
  [ChatCompletionRequest, CHAT, 'max_completion_tokens'],
  [CompletionRequest, COMPLETION, 'max_tokens'],
  [ResponseRequest, { model: 'gpt-4o-mini', input: 'Hello' }, 'max_output_tokens'],
] as const)('a bound on the output is never 0, which some providers read as none (%#, %o, %s)', (schema, body, field) => {
  const takes = (bound: number | null) => schema.safeParse({ ...body, [field]: bound }).success;
  expect([0, -0, -1, 0.5].map(takes)).toEqual([false, false, false, false]);
  expect([64, null].map(takes)).toEqual([true, true]);
});
