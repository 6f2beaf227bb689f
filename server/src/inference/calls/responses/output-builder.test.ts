import { expect, test } from 'vitest';
import { OutputBuilder } from './output-builder.ts';

test('log probabilities of any number are kept: more than a call has room for', () => {
  const builder = new OutputBuilder('resp_1');
  const logprobs = Array.from({ length: 300_000 }, () => ({ token: 'a', logprob: -1 }));
  builder.add({ role: 'assistant', content: 'a' }, logprobs);
  builder.finish('stop');
  expect(JSON.stringify(builder.output).match(/"logprob"/g)).toHaveLength(300_000);
});

test('of calls without number no more is kept than an answer may have', () => {
  const calls = Array.from({ length: 20_000 }, (_, index) => ({ index, id: `call_${index}`, function: { name: 'f', arguments: '' } }));
  const builder = new OutputBuilder('resp_1');
  builder.add({ role: 'assistant', tool_calls: calls });
  expect(builder.isTooLarge).toBe(true);
  expect(builder.output).toHaveLength(10_000);
});

const LONG = 'a'.repeat(1024 * 1024);
const called = (id: string, named: object) => ({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: '', ...named } }] });
test.each([
  ['a text', () => ({ content: LONG })],
  ['a refusal', () => ({ refusal: LONG })],
  ['reasoning', () => ({ reasoning_content: LONG })],
  ['the arguments of a call', () => called('call_1', { arguments: LONG })],
  ['the names of calls', (at: number) => called(`call_${at}`, { name: LONG })],
  ['the names of calls that are no text', (at: number) => called(`call_${at}`, { name: { LONG } })],
  ['the ids of calls', (at: number) => called(`call_${at}${LONG}`, {})],
  ['the probabilities of tokens', () => ({ content: 'a' }), [{ token: 'a', logprob: -1, top_logprobs: [{ token: LONG, logprob: -1 }] }]],
])('of %s without end, no more is kept than an answer may have', (_, message, logprobs: unknown[] = []) => {
  const builder = new OutputBuilder('resp_2');
  for (let piece = 0; piece < 11; piece += 1) builder.add(message(piece), logprobs);
  expect(builder.isTooLarge).toBe(false);
  for (let piece = 11; piece < 13; piece += 1) builder.add(message(piece), logprobs);
  expect(builder.isTooLarge).toBe(true);
});
