import type { ChatCompletionRequest } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { type CallOverrides, chatCall } from '../conformance-calls.ts';
import { messagesRequest } from './request.ts';

const MESSAGES: ChatCompletionRequest['messages'] = [{ role: 'user', content: 'Hi.' }];
/** As JSON has it: without what is undefined. */
const sent = (request: Partial<ChatCompletionRequest>, { model = 'claude-sonnet-4-6', ...more }: CallOverrides = {}) =>
  JSON.parse(JSON.stringify(messagesRequest(chatCall(model, { ...more, request: { messages: MESSAGES, ...request } }))));
const PLAIN = { model: 'claude-sonnet-4-6', max_tokens: 256, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }] };

describe('what is sent', () => {
  it('is no more than what Anthropic knows', () => {
    const request = {
      models: ['a'],
      seed: 1,
      presence_penalty: 1,
      store: true,
      metadata: { a: 'b' },
      verbosity: 'low',
      a_field_of_next_year: 1,
    };
    expect(sent(request)).toEqual(PLAIN);
  });

  it('carries the bound that is held, whatever the caller wrote', () => {
    expect(sent({ max_tokens: 9000, max_completion_tokens: 8000 })).toEqual(PLAIN);
  });

  it('carries what has a counterpart', () => {
    const request = { stop: 'END', user: 'u-1', service_tier: 'default', temperature: 1.7, top_k: 5, cache_control: { type: 'ephemeral' } };
    expect(sent(request, { stream: true })).toEqual({
      ...PLAIN,
      stop_sequences: ['END'],
      metadata: { user_id: 'u-1' },
      service_tier: 'standard_only',
      temperature: 1,
      top_k: 5,
      cache_control: { type: 'ephemeral' },
      stream: true,
    });
    expect(sent({ stop: ['a', '', 'b'], user: 'old', safety_identifier: 'new' })).toMatchObject({
      stop_sequences: ['a', 'b'],
      metadata: { user_id: 'new' },
    });
  });

  it.each([
    ['claude-sonnet-4-6', { temperature: 0.2, top_p: 0.5 }, { temperature: 0.2 }],
    ['claude-sonnet-4-6', { temperature: 1, top_p: 0.5 }, { top_p: 0.5 }],
    ['claude-sonnet-4-6', { top_p: 0.5 }, { top_p: 0.5 }],
    ['claude-3-5-haiku-20241022', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
    ['claude-opus-4-8', { temperature: 0.2, top_p: 0.5, top_k: 3 }, {}],
    ['claude-haiku-4-5', { temperature: 0.2, reasoning_effort: 'low' }, { thinking: { type: 'enabled', budget_tokens: 2048 } }],
  ])('has the sampling that %s takes: %j', (model, request, expected) => {
    expect(sent(request, { model, maxOutputTokens: 4096 })).toEqual({ ...PLAIN, model, max_tokens: 4096, ...expected });
  });

  it('has effort and schema side by side', () => {
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'x', schema: { type: 'object', properties: {} } } };
    expect(sent({ reasoning_effort: 'high', response_format })).toEqual({
      ...PLAIN,
      thinking: { type: 'adaptive' },
      output_config: {
        format: { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } },
        effort: 'high',
      },
    });
  });

  it('asks for a JSON object behind the caller’s own system prompt', () => {
    const messages: ChatCompletionRequest['messages'] = [{ role: 'system', content: 'Be brief.' }, ...MESSAGES];
    const { system } = sent({ messages, response_format: { type: 'json_object' } });
    expect(system).toEqual([
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: expect.stringMatching(/JSON object/) },
    ]);
  });
});

describe('what cannot be asked of Anthropic and means something', () => {
  it.each([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['logprobs', { top_logprobs: 3 }],
    ['logit_bias', { logit_bias: { '7': -100 } }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['web_search_options', { web_search_options: {} }],
    ['functions', { functions: [] }],
  ])('is refused, naming %s', (param, request) => {
    expect(() => sent(request)).toThrow(expect.objectContaining({ name: 'Untranslatable', param }));
  });

  it('is not what means nothing', () => {
    expect(sent({ n: 1, logprobs: false, top_logprobs: 0, logit_bias: {}, modalities: ['text'] })).toEqual(PLAIN);
  });
});
