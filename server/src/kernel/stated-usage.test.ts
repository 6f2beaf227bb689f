import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUsageName, plainUsage, statedUsage, usageInText } from './stated-usage.ts';

const USAGE = { prompt_tokens: 1000, completion_tokens: 900 };

test.each([
  ['at the top', { usage: USAGE }],
  ['in x_groq', { x_groq: { usage: USAGE } }],
  ['in the error', { error: { message: 'x', usage: USAGE } }],
  ['in the metadata of an error', { error: { metadata: { usage: USAGE } } }],
  ['in the response', { type: 'response.completed', response: { usage: USAGE } }],
  ['in the message', { type: 'message_start', message: { usage: USAGE } }],
  ['as billed units', { meta: { billed_units: USAGE } }],
  ['as the metadata of Google', { candidates: [], usageMetadata: USAGE }],
  ['as that in snake case', { usage_metadata: USAGE }],
  ['as a usage of tokens', { tokenUsage: USAGE }],
  ['beside one that says less', { usage: { prompt_tokens: 1000, completion_tokens: 1 }, x_groq: { usage: USAGE } }],
  ['beside null', { usage: null, detail: { usage: USAGE } }],
])('a usage that stands %s is found', (_, document) => {
  expect(statedUsage(document)).toBe(USAGE);
});

test.each([
  ['arguments of a tool', { input: { usage: USAGE }, arguments: { usage: USAGE } }],
  ['a list, where answers are', { content: [{ usage: USAGE }], choices: [{ usage: USAGE }] }],
  ['the schema that was asked for', { text: { format: { usage: USAGE } } }],
  ['a text', { message: '{"usage":{"prompt_tokens":1000}}' }],
  ['nothing', null],
])('what is called usage in %s is none', (_, document) => {
  expect(statedUsage(document)).toBeUndefined();
});

describe('the counts', () => {
  test.each([
    ['texts', { prompt_tokens: '1000', completion_tokens: ' 9e2 ' }],
    ['fractions', { prompt_tokens: 999.2, completion_tokens: '899.5' }],
    ['in camel case', { promptTokens: 1000, completionTokens: 900 }],
    ['in other cases', { PromptTokens: 1000, 'completion-tokens': 900 }],
    ['under two names', { prompt_tokens: 3, promptTokens: 1000, completion_tokens: 900, completionTokens: 3 }],
    ['of several parts', [{ prompt_tokens: 400, completion_tokens: 900 }, { prompt_tokens: 600 }]],
    ['of iterations', { prompt_tokens: 5, iterations: [USAGE] }],
  ])('are whole numbers under names in snake case: %s', (_, usage) => {
    expect(plainUsage(usage)).toMatchObject(USAGE);
  });

  test('are those of a usage that is written so, which stays the same object', () => {
    const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 3 }, cost_details: { upstreamCost: 0.5 }, completion_time: 0.25 };
    expect(plainUsage(usage)).toBe(usage);
  });

  test.each([
    ['negative', { prompt_tokens: -1 }],
    ['a word', { prompt_tokens: 'many' }],
    ['no number', { prompt_tokens: null }],
    ['endless', { prompt_tokens: Number.POSITIVE_INFINITY }],
  ])('stay what they are where they are none: %s', (_, usage) => {
    expect(plainUsage(usage)).toEqual(usage);
  });

  test('of iterations are added up, and the larger of sum and whole counts', () => {
    const each = [
      { input_tokens: 1000, output_tokens: 895 },
      { input_tokens: 1000, output_tokens: 5 },
    ];
    expect(plainUsage({ input_tokens: 5, output_tokens: 901, iterations: each })).toMatchObject({ input_tokens: 2000, output_tokens: 901 });
  });
});

test('of all usages in a text the largest of each count is found, and what breaks off is read so far', () => {
  const chunk = (usage: object) => `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
  expect(usageInText(`\u0000${chunk(USAGE)}${chunk({ prompt_tokens: 1 })}`)).toEqual({ ...USAGE, is_partial: true });
  const said = 'data: {"message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\ndata: {"usage":{"output_tokens":20}}\n\n';
  expect(usageInText(said)).toEqual({ input_tokens: 9, output_tokens: 20, is_partial: true });
  expect(usageInText('{"usageMetadata":{"promptTokenCount":1000,"cand')).toEqual({ prompt_token_count: 1000, is_partial: true });
  expect(usageInText('{"usage":[{"prompt_tokens":1000}]}')).toMatchObject({ prompt_tokens: 1000 });
  expect(usageInText(JSON.stringify({ content: JSON.stringify({ usage: USAGE }) }))).toBeUndefined();
});

test('whatever a document is, a name is a usage or none, and nothing throws', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.constantFrom('usage', 'usageMetadata', 'error'), fc.string()), fc.anything()), (document) => {
      const stated = statedUsage(document);
      if (stated !== undefined) expect(typeof stated).toBe('object');
      plainUsage(stated);
      for (const name of Object.keys(document)) isUsageName(name);
    }),
  );
});
