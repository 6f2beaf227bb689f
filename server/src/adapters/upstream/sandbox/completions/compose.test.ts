import { Completion } from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOW, sandboxAt } from '../testing/sandbox.ts';
import { countTokens } from '../tokens.ts';

const model = 'gpt-3.5-turbo-instruct';
const completions = sandboxAt('/v1/completions', { model, maxOutputTokens: 256 }, (call) => call);
const request = { model, prompt: 'Once upon a time' };

describe('completions of the sandbox', () => {
  it('go on from the prompt, in the shape of OpenAI', async () => {
    const body = await completions.json(request);
    expect(body).toEqual({
      id: expect.stringMatching(/^cmpl-[0-9a-f]{32}$/),
      object: 'text_completion',
      created: NOW / 1000,
      model,
      choices: [{ index: 0, text: expect.stringContaining('"Once upon a time"'), logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 6, completion_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    });
    expect(await completions.bytes(request)).toEqual(await completions.bytes(request));
  });

  it('give every prompt n choices, streamed as they are plain, and count them', async () => {
    const prompts = fc.oneof(
      fc.string(),
      fc.array(fc.string(), { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(
        prompts,
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        fc.nat(60),
        fc.option(fc.nat(5)),
        async (prompt, n, echo, bound, logprobs) => {
          const asked = { ...request, prompt, n, echo, logprobs, suffix: 'The end.' };
          const overrides = { maxOutputTokens: bound };
          const { choices, usage } = Completion.parse(await completions.json(asked, overrides));
          const isList = Array.isArray(prompt) && typeof prompt[0] !== 'number';
          expect(choices.map(({ index }) => index)).toEqual(Array.from({ length: n * (isList ? prompt.length : 1) }, (_, index) => index));
          const events = await completions.events(asked, overrides);
          expect(events.pop()?.data).toBe('[DONE]');
          const chunks = events.map(({ data }) => Completion.parse(data));
          for (const { index, text, finish_reason } of choices) {
            const pieces = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
            expect(pieces.map((piece) => piece.text).join('')).toBe(text);
            expect(pieces.map((piece) => piece.finish_reason)).toEqual([...pieces.slice(1).map(() => null), finish_reason]);
          }
          expect(chunks.at(-1)?.usage).toEqual(usage);
          expect(usage?.completion_tokens).toBeLessThanOrEqual(bound * choices.length);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('stop before a stop sequence, and at the bound', async () => {
    const stopped = await completions.json({ ...request, stop: ['upon'] });
    expect(stopped.choices[0].text).toBe(' … goes on from "Once ');
    expect((await completions.json(request, { maxOutputTokens: 3 })).choices[0].finish_reason).toBe('length');
  });

  it('tell the probability of every token, and where it stands, also of what is echoed', async () => {
    const { choices } = await completions.json({ ...request, echo: true, logprobs: 2 });
    const [{ text, logprobs }] = choices;
    expect(text.startsWith('Once upon a time')).toBe(true);
    expect(logprobs.tokens).toHaveLength(countTokens(text));
    for (const [index, token] of logprobs.tokens.entries()) {
      expect(text.slice(logprobs.text_offset[index]).startsWith(token)).toBe(true);
      expect(logprobs.top_logprobs[index]).toHaveProperty([token]);
      expect(logprobs.token_logprobs[index]).toBeLessThan(0);
    }
  });

  it('have no usage, or too much, where that fault is asked for', async () => {
    expect(await completions.json(request, { sandboxFault: 'no-usage' })).not.toHaveProperty('usage');
    expect((await completions.json(request, { sandboxFault: 'overrun' })).usage.completion_tokens).toBe(528);
  });
});
