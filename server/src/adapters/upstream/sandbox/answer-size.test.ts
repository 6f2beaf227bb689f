import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { UpstreamAnswer, UpstreamFault } from '../port.ts';
import { sandboxAt } from './testing/sandbox.ts';

const MOST_BYTES = 2 * 1024 * 1024;
const usual = { model: 'gpt-4o-mini', maxOutputTokens: 100_000 };
const chat = sandboxAt('/v1/chat/completions', usual, (call) => call);
const completions = sandboxAt('/v1/completions', usual, (call) => call);
const responses = sandboxAt('/v1/responses', usual, (call) => call);

/** Bytes of the answer, or the code of the refusal. */
async function sizeOf(outcome: UpstreamAnswer | UpstreamFault): Promise<number | string> {
  if (outcome.ok) return (await outcome.collect(100 * MOST_BYTES)).length;
  return JSON.stringify(outcome).includes('answer_too_large') ? 'answer_too_large' : outcome.message;
}

const expectBounded = async (outcome: Promise<UpstreamAnswer | UpstreamFault>): Promise<void> => {
  const size = await sizeOf(await outcome);
  if (typeof size === 'number') expect(size).toBeLessThanOrEqual(MOST_BYTES);
  else expect(size).toBe('answer_too_large');
};

const text = fc
  .tuple(fc.constantFrom('a ', 'a', 'word ', '"', '\u0001', 'é', '😀', '😀 '), fc.constantFrom(1, 100, 5_000, 100_000))
  .map(([unit, count]) => unit.repeat(count));
const messages = text.map((content) => [{ role: 'user' as const, content }]);
const format = text.map((value) => ({
  type: 'json_schema' as const,
  json_schema: { name: 'a', schema: { type: 'object', properties: { a: { const: value } }, required: ['a'] } },
}));
const tools = text.map((value) => [
  { type: 'function' as const, function: { name: 'f', parameters: { type: 'object', properties: { a: { const: value } } } } },
]);
const model = 'gpt-4o-mini';

test('no chat completion has more than 2 MiB, as a whole or as a stream', async () => {
  const request = fc.record(
    {
      messages,
      n: fc.constantFrom(1, 8, 40, 60, 80, 128),
      logprobs: fc.boolean(),
      top_logprobs: fc.constantFrom(0, 1, 20),
      response_format: format,
      tools,
      stream_options: fc.record({ include_usage: fc.boolean() }),
    },
    { requiredKeys: ['messages'] },
  );
  await fc.assert(
    fc.asyncProperty(request, fc.boolean(), (asked, stream) => expectBounded(chat.ask({ model, ...asked }, { stream }))),
    { numRuns: 60 },
  );
});

test('no completion has more than 2 MiB, as a whole or as a stream', async () => {
  const prompt = fc.oneof(
    text,
    fc.tuple(text, fc.constantFrom(1, 50, 500)).map(([one, count]) => Array.from({ length: one.length > 5_000 ? 3 : count }, () => one)),
  );
  const request = fc.record(
    { prompt, n: fc.constantFrom(1, 8, 40, 128), echo: fc.boolean(), logprobs: fc.constantFrom(0, 5), suffix: text },
    { requiredKeys: ['prompt'] },
  );
  await fc.assert(
    fc.asyncProperty(request, fc.boolean(), (asked, stream) => expectBounded(completions.ask({ model, ...asked }, { stream }))),
    { numRuns: 60 },
  );
});

test('no response has more than 2 MiB, as a whole or as a stream', async () => {
  const request = fc.record(
    {
      input: text,
      instructions: text,
      include: fc.constantFrom('message.output_text.logprobs' as const).map((name) => [name]),
      top_logprobs: fc.constantFrom(0, 20),
      tools: tools.map((listed) => listed.map(({ type, function: { name, parameters } }) => ({ type, name, parameters }))),
      reasoning: fc.constant({ effort: 'high', summary: 'auto' }),
    },
    { requiredKeys: ['input'] },
  );
  await fc.assert(
    fc.asyncProperty(request, fc.boolean(), (asked, stream) => expectBounded(responses.ask({ model, ...asked }, { stream }))),
    { numRuns: 60 },
  );
});

test('an answer that would be larger is refused with what to send less of', async () => {
  const prompt = Array.from({ length: 200 }, () => 'a '.repeat(50));
  const refused = await completions.ask({ model, prompt, n: 10 }, { stream: true });
  expect(refused).toMatchObject({ ok: false, message: expect.stringMatching(/2097152 bytes.*lower n, max_tokens or logprobs/) });
  expect(await sizeOf(await chat.ask({ model, messages: [{ role: 'user', content: 'a '.repeat(100) }], n: 128 }, { stream: true }))).toBe(
    'answer_too_large',
  );
  const instructions = 'a'.repeat(MOST_BYTES);
  expect(await sizeOf(await responses.ask({ model, input: 'a', instructions }))).toBe('answer_too_large');
});

test('what is just small enough is answered', async () => {
  const messagesOf = [{ role: 'user' as const, content: 'a '.repeat(100) }];
  expect(await sizeOf(await chat.ask({ model, messages: messagesOf, n: 128 }))).toBeLessThan(MOST_BYTES);
  expect(await sizeOf(await chat.ask({ model, messages: messagesOf, n: 30 }, { stream: true }))).toBeGreaterThan(MOST_BYTES / 4);
  expect(await sizeOf(await completions.ask({ model, prompt: 'a'.repeat(2_000_000), echo: true }))).toBeGreaterThan(2_000_000);
});
