import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { laterUsage, promptUsageOf, usageOf } from './usage.ts';

const COUNTED = {
  input_tokens: 21,
  cache_creation_input_tokens: 700,
  cache_read_input_tokens: 3000,
  cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 200 },
  output_tokens: 93,
  output_tokens_details: { thinking_tokens: 40 },
};

describe('the usage of an answer', () => {
  it('counts what was read from the cache and written to it as part of the prompt, writes by their lifetime', () => {
    expect(usageOf(COUNTED)).toEqual({
      prompt_tokens: 3721,
      completion_tokens: 93,
      total_tokens: 3814,
      prompt_tokens_details: { cached_tokens: 3000, cache_write_tokens: 500, cache_write_1h_tokens: 200 },
      completion_tokens_details: { reasoning_tokens: 40 },
    });
  });

  it('takes writes for five-minute ones where no lifetime is told, and null for none', () => {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 7,
      cache_read_input_tokens: null,
      cache_creation: null,
      output_tokens: 0,
    };
    expect(usageOf(usage)).toEqual({
      prompt_tokens: 8,
      completion_tokens: 0,
      total_tokens: 8,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 7, cache_write_1h_tokens: 0 },
    });
  });

  it('keeps the lifetimes of the beginning of a stream, and the sums of its end', () => {
    const end = { input_tokens: null, cache_creation_input_tokens: 700, output_tokens: 200 };
    expect(usageOf(laterUsage(COUNTED, end))).toMatchObject({
      prompt_tokens: 3721,
      completion_tokens: 200,
      prompt_tokens_details: { cache_write_tokens: 500, cache_write_1h_tokens: 200 },
    });
  });

  it('of what came out never becomes less while a stream goes on', () => {
    const begun = laterUsage({}, COUNTED);
    expect(laterUsage(begun, { output_tokens: 5 })).toMatchObject({ input_tokens: 21, output_tokens: 93 });
    expect(laterUsage(begun, { output_tokens: 100 })).toMatchObject({ input_tokens: 21, output_tokens: 100 });
  });

  it.each([undefined, null, 'none', [], {}])('is none where no count is one: %j', (usage) => {
    expect(usageOf(usage)).toBeUndefined();
  });

  it.each([
    [{ ...COUNTED, input_tokens: 'many' }, 3700, 93],
    [{ ...COUNTED, output_tokens: -1 }, 3721, 0],
    [{ ...COUNTED, cache_read_input_tokens: -0.5 }, 721, 93],
    [{ ...COUNTED, cache_creation: { ephemeral_1h_input_tokens: 'many' } }, 3721, 93],
  ])('is the least where one of its counts is none: %j', (usage, prompt_tokens, completion_tokens) => {
    expect(usageOf(usage)).toMatchObject({ prompt_tokens, completion_tokens, is_partial: true });
  });

  it('is what its iterations come to, where that is more than the whole', () => {
    const each = [
      { type: 'compaction', input_tokens: 1000, cache_read_input_tokens: 200, output_tokens: 895 },
      { type: 'message', input_tokens: 1000, output_tokens: 5 },
    ];
    const begun = laterUsage({}, { input_tokens: 1000, output_tokens: 1 });
    const ended = usageOf(laterUsage(begun, { output_tokens: 5, iterations: each }));
    expect(ended).toMatchObject({ prompt_tokens: 2200, completion_tokens: 900, prompt_tokens_details: { cached_tokens: 200 } });
  });

  it('has parts that never exceed the prompt, whatever the counts', () => {
    const count = fc.option(fc.nat(1_000_000), { nil: null });
    const counts = fc.record({
      input_tokens: fc.nat(1_000_000),
      cache_creation_input_tokens: count,
      cache_read_input_tokens: count,
      cache_creation: fc.option(fc.record({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }), { nil: null }),
    });
    fc.assert(
      fc.property(counts, (usage) => {
        const prompt = promptUsageOf(usage);
        const { cached_tokens, cache_write_tokens, cache_write_1h_tokens } = Object(prompt?.prompt_tokens_details);
        expect(cache_write_tokens).toBeGreaterThanOrEqual(0);
        expect(cached_tokens + cache_write_tokens + cache_write_1h_tokens + usage.input_tokens).toBe(prompt?.prompt_tokens);
      }),
    );
  });
});
