import { readFileSync } from 'node:fs';
import { ChatCompletion } from '@tallygate/contract';
import { describe, expect, it, test } from 'vitest';
import { atOnce } from '../../../kernel/turn.ts';
import { completionOf } from './completion.ts';
import { usageOf } from './usage.ts';

const CONTEXT = { model: 'gemini-2.5-pro', created: 1_763_712_000, id: 'ours', oneCallOnly: false };
const fixture = (name: string): unknown => JSON.parse(readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8'));
const completed = (document: unknown, context = CONTEXT) => ChatCompletion.parse(atOnce(completionOf(document, context)));
const candidate = (fields: object) => completed({ candidates: [{ content: { parts: [] }, ...fields }] }).choices[0];

describe('a whole answer', () => {
  it('is a chat completion: thoughts apart, cached and thinking tokens counted where OpenAI counts them', () => {
    expect(completed(fixture('thinking.json'))).toEqual({
      id: 'chatcmpl-mZ0gaevCE4vXz7IPq4-HmQ0',
      object: 'chat.completion',
      created: 1_763_712_000,
      model: 'gemini-2.5-pro',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello there.',
            refusal: null,
            reasoning_content: '**Greeting**\n\nA short greeting will do.\n',
            extra_content: { google: { thought_signature: 'CpcBAdHtim9f' } },
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 2100,
        completion_tokens: 45,
        total_tokens: 2145,
        prompt_tokens_details: { cached_tokens: 2048 },
        completion_tokens_details: { reasoning_tokens: 42 },
      },
    });
  });

  it('has parallel calls with ids made of the answer’s own, Google’s where there is one, and the signature on its call', () => {
    const { choices, usage } = completed(fixture('parallel-calls.json'));
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(choices[0]?.message.tool_calls).toEqual([
      {
        id: 'call_abC_1-xyzABCDEFGHIJKLMNO_0_0',
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city":"Köln","days":1}' },
        extra_content: { google: { thought_signature: 'EtYBCtMBAdHtim8=' } },
      },
      { id: 'call_abC_1-xyzABCDEFGHIJKLMNO_0_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Bonn"}' } },
      { id: '9hf2k1a0', type: 'function', function: { name: 'now', arguments: '{}' } },
    ]);
    expect(usage).toMatchObject({ prompt_tokens: 61, completion_tokens: 120 });
  });

  it('has one call alone where the caller declined parallel ones', () => {
    const { choices } = completed(fixture('parallel-calls.json'), { ...CONTEXT, oneCallOnly: true });
    expect(choices[0]?.message.tool_calls).toHaveLength(1);
  });

  it('to a blocked prompt is a refusal that bills the prompt', () => {
    const { choices, usage } = completed(fixture('blocked.json'));
    expect(choices[0]).toMatchObject({
      finish_reason: 'content_filter',
      message: { content: null, refusal: expect.stringContaining('PROHIBITED_CONTENT') },
    });
    expect(usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 0, total_tokens: 11 });
  });

  test.each([
    ['STOP', 'stop', null],
    ['MAX_TOKENS', 'length', null],
    ['SAFETY', 'content_filter', 'SAFETY'],
    ['RECITATION', 'content_filter', 'RECITATION'],
    ['MALFORMED_FUNCTION_CALL', 'content_filter', 'MALFORMED_FUNCTION_CALL'],
    ['A_REASON_OF_NEXT_YEAR', 'content_filter', 'A_REASON_OF_NEXT_YEAR'],
  ])('that ended for %s ends for %s', (finishReason, expected, refusal) => {
    const choice = candidate({ finishReason });
    expect(choice?.finish_reason).toBe(expected);
    expect(choice?.message).toMatchObject(
      refusal ? { content: null, refusal: expect.stringContaining(refusal) } : { content: '', refusal: null },
    );
  });

  it('withheld in its middle keeps what was said', () => {
    const message = candidate({ finishReason: 'SAFETY', content: { parts: [{ text: 'Once' }] } })?.message;
    expect(message).toMatchObject({ content: 'Once', refusal: null });
  });

  it('has its log probabilities token by token', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'Hé', logProbability: -0.5, tokenId: 7 }],
      topCandidates: [
        {
          candidates: [
            { token: 'Hé', logProbability: -0.5 },
            { token: 'Ha', logProbability: -2 },
          ],
        },
      ],
    };
    expect(candidate({ logprobsResult })?.logprobs).toEqual({
      content: [
        {
          token: 'Hé',
          logprob: -0.5,
          bytes: [72, 195, 169],
          top_logprobs: [
            { token: 'Hé', logprob: -0.5, bytes: [72, 195, 169] },
            { token: 'Ha', logprob: -2, bytes: [72, 97] },
          ],
        },
      ],
      refusal: null,
    });
  });

  test.each([[null], [[]], ['text'], [{}], [{ candidates: [] }], [{ error: { code: 500 } }]])(
    'that is none is not made into one: %j',
    (document) => {
      expect(atOnce(completionOf(document, CONTEXT))).toBeUndefined();
    },
  );
});

describe('usage', () => {
  it('counts what Google’s own tools fed back as input', () => {
    expect(usageOf({ promptTokenCount: 10, toolUsePromptTokenCount: 5, candidatesTokenCount: 2 })).toMatchObject({
      prompt_tokens: 15,
      completion_tokens: 2,
      total_tokens: 17,
    });
  });

  test.each([[undefined], ['x'], [{ promptTokenCount: 'ten' }], [{ promptTokenCount: -1 }]])('that is no count is none: %j', (metadata) => {
    expect(usageOf(metadata)).toBeUndefined();
  });

  test('in snake case, as texts, or in the words of OpenAI is the same', () => {
    const google = { prompt_token_count: '10', candidates_token_count: 2, thoughts_token_count: 1, total_token_count: 13 };
    for (const usage of [google, { prompt_tokens: 10, completion_tokens: 3 }])
      expect(usageOf(usage)).toMatchObject({ prompt_tokens: 10, completion_tokens: 3 });
  });

  test('of which one count is none is the least', () => {
    const usage = usageOf({ promptTokenCount: 1, thoughtsTokenCount: -0.5 });
    expect(usage).toMatchObject({ prompt_tokens: 1, completion_tokens: 0, is_partial: true });
  });
});
