import { expect, test } from 'vitest';
import { endsByItself } from './ends-by-itself.ts';

const whole = [
  { choices: [{ message: { content: 'He said "finish_reason":"length".' }, finish_reason: 'stop' }] },
  { choices: [{ delta: {}, finish_reason: null }] },
  { choices: [{ finish_reason: 'tool_calls' }] },
  { stop_reason: 'end_turn' },
  { delta: { stop_reason: 'tool_use' } },
  { candidates: [{ finishReason: 'STOP' }] },
  { status: 'completed', output: [{ status: 'completed' }] },
  { data: [{ embedding: [1] }] },
];
const ended = [
  { choices: [{ finish_reason: 'stop' }, { finish_reason: 'length' }] },
  { choices: [{ finish_reason: 'content_filter' }] },
  { choices: [{ finish_reason: 'something_new' }] },
  { stop_reason: 'max_tokens' },
  { delta: { stop_reason: 'refusal' } },
  { stop_reason: 'pause_turn' },
  { candidates: [{ finishReason: 'MAX_TOKENS' }] },
  { promptFeedback: { blockReason: 'SAFETY' } },
  { status: 'incomplete' },
  { type: 'response.incomplete', response: { status: 'incomplete' } },
];

test.each(whole)('an answer that its model ended may be kept: %j', (answer) => {
  expect(endsByItself(Buffer.from(JSON.stringify(answer)))).toBe(true);
});

test.each(ended)('one that a bound, a filter or an error ended may not: %j', (answer) => {
  for (const spaces of [0, 2]) expect(endsByItself(Buffer.from(JSON.stringify(answer, undefined, spaces)))).toBe(false);
});
