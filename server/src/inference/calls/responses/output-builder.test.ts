import { expect, test } from 'vitest';
import { OutputBuilder } from './output-builder.ts';

test('log probabilities of any number are kept: more than a call has room for', () => {
  const builder = new OutputBuilder('resp_1');
  const logprobs = Array.from({ length: 300_000 }, () => ({ token: 'a', logprob: -1 }));
  builder.add({ role: 'assistant', content: 'a' }, logprobs);
  builder.finish('stop');
  expect(JSON.stringify(builder.output).match(/"logprob"/g)).toHaveLength(300_000);
});
