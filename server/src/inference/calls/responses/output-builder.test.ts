import { expect, test } from 'vitest';
import { OutputBuilder } from './output-builder.ts';

test('log probabilities of any number are kept: more than a call has room for', () => {
  const builder = new OutputBuilder('resp_1');
  const logprobs = Array.from({ length: 300_000 }, () => ({ token: 'a', logprob: -1 }));
  builder.add({ role: 'assistant', content: 'a' }, logprobs);
  builder.finish('stop');
  expect(JSON.stringify(builder.output).match(/"logprob"/g)).toHaveLength(300_000);
});

test('of calls without number, and of a text without end, no more is kept than an answer may have', () => {
  const calls = Array.from({ length: 20_000 }, (_, index) => ({ index, id: `call_${index}`, function: { name: 'f', arguments: '' } }));
  const builder = new OutputBuilder('resp_1');
  builder.add({ role: 'assistant', tool_calls: calls });
  expect(builder.isTooLarge).toBe(true);
  expect(builder.output).toHaveLength(10_000);
  const other = new OutputBuilder('resp_2');
  for (let piece = 0; piece < 12; piece += 1) other.add({ content: 'a'.repeat(1024 * 1024) });
  expect(other.isTooLarge).toBe(false);
  other.add({ content: 'a' });
  expect(other.isTooLarge).toBe(true);
});
