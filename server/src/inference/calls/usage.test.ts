import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atLeast, NO_USAGE, readUsage, readUsageSoFar, usageForClient, withPromptOf } from './usage.ts';

test('the counts of OpenAI’s form are read, details included', () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 50,
    total_tokens: 150,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 20 },
  };
  expect(readUsage(usage)).toEqual({
    input_tokens: 100,
    cached_input_tokens: 60,
    cache_write_tokens: 30,
    output_tokens: 50,
    reasoning_tokens: 20,
  });
});

test('zero is a count', () => {
  expect(readUsage({ prompt_tokens: 0, completion_tokens: 0 })).toEqual(NO_USAGE);
});

test('thinking that is counted beside the completion is output, as it is billed', () => {
  const xai = { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135, completion_tokens_details: { reasoning_tokens: 94 } };
  expect(readUsage(xai)).toMatchObject({ input_tokens: 32, output_tokens: 103, reasoning_tokens: 94 });
  expect(readUsage({ prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 })).toMatchObject({ output_tokens: 603 });
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a list', [1]],
  ['an empty object', {}],
  ['a negative count', { prompt_tokens: -1, completion_tokens: 1 }],
  ['a negative fraction', { prompt_tokens: -1.5, completion_tokens: 1 }],
  ['a word', { prompt_tokens: 'many', completion_tokens: 1 }],
  ['an absurd count', { prompt_tokens: 1e12, completion_tokens: 1 }],
  ['half of it', { prompt_tokens: 9 }],
])('%s is no usage', (_, usage) => {
  expect(readUsage(usage)).toBeUndefined();
});

test('whatever a provider says, parts never exceed their whole and nothing is negative', () => {
  const number = fc.oneof(fc.integer({ min: -5, max: 1_000 }), fc.double(), fc.constantFrom(1e12, Number.MAX_SAFE_INTEGER), fc.string());
  const details = fc.oneof(fc.constant(null), fc.record({ cached_tokens: number, cache_write_tokens: number, reasoning_tokens: number }));
  const reported = fc.record({
    prompt_tokens: number,
    completion_tokens: number,
    total_tokens: number,
    prompt_tokens_details: details,
    completion_tokens_details: details,
  });
  fc.assert(
    fc.property(reported, (usage) => {
      const read = readUsage(usage);
      if (!read) return;
      for (const count of Object.values(read)) expect(Number.isSafeInteger(count) && Number(count) >= 0).toBe(true);
      expect(read.cached_input_tokens + read.cache_write_tokens).toBeLessThanOrEqual(read.input_tokens);
      expect(read.reasoning_tokens).toBeLessThanOrEqual(read.output_tokens);
    }),
  );
});

test('the client sees the provider’s own object, or one made from our count', () => {
  const own = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, x_extra: true };
  expect(usageForClient(own, NO_USAGE)).toBe(own);
  expect(usageForClient(undefined, { ...NO_USAGE, input_tokens: 3, output_tokens: 4 })).toMatchObject({
    prompt_tokens: 3,
    completion_tokens: 4,
    total_tokens: 7,
  });
});

describe('of a stream that was cut', () => {
  const counted = { ...NO_USAGE, input_tokens: 500, output_tokens: 7, image_output_tokens: 3 };
  const prompt = { prompt_tokens: 3010, prompt_tokens_details: { cached_tokens: 3000 } };

  test('what the provider had said of its usage is read, and of the prompt alone', () => {
    for (const said of [prompt, { ...prompt, completion_tokens: 'many' }])
      expect(readUsageSoFar(said)).toEqual({ ...NO_USAGE, input_tokens: 3010, cached_input_tokens: 3000 });
    expect(readUsageSoFar({ ...prompt, completion_tokens: 4 })).toMatchObject({ input_tokens: 3010, output_tokens: 4 });
    for (const nothing of [undefined, null, {}, { prompt_tokens: -1 }]) expect(readUsageSoFar(nothing)).toBeUndefined();
  });

  test('the prompt is what the provider had said, and the answer what we have counted', () => {
    const corrected = { ...counted, input_tokens: 3010, cached_input_tokens: 3000 };
    expect(withPromptOf(readUsageSoFar(prompt), counted)).toEqual(corrected);
    for (const nothing of [undefined, NO_USAGE]) expect(withPromptOf(nothing, counted)).toBe(counted);
  });

  test('no count is less than the provider had said, and the parts of a prompt stay with their whole', () => {
    const said = { ...NO_USAGE, input_tokens: 3010, cached_input_tokens: 3000, output_tokens: 4, reasoning_tokens: 2 };
    const least = { ...said, output_tokens: 7, image_output_tokens: 3 };
    expect(atLeast(said, counted)).toEqual(least);
    expect(atLeast({ ...said, input_tokens: 499, cached_input_tokens: 490 }, counted)).toEqual({
      ...least,
      input_tokens: 500,
      cached_input_tokens: 0,
    });
    expect(atLeast(undefined, counted)).toBe(counted);
  });
});
