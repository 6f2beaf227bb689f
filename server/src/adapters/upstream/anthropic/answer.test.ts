import { readFileSync } from 'node:fs';
import { ChatCompletion } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../../kernel/turn.ts';
import { completionBody, completionOf } from './answer.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const CREATED = 1_763_712_000;
const message = (fields: object) => ({ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], ...fields });
const first = (fields: object) => ChatCompletion.parse(atOnce(completionOf(message(fields), CREATED))).choices[0];
const text = (said: string) => ({ type: 'text', text: said });

describe('a whole answer', () => {
  it('is a chat completion', async () => {
    expect(JSON.parse((await completionBody(fixture('plain.json'), CREATED)).toString())).toEqual({
      id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
      object: 'chat.completion',
      created: CREATED,
      model: 'claude-haiku-4-5-20251001',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello there.', refusal: null }, logprobs: null, finish_reason: 'stop' },
      ],
      usage: {
        prompt_tokens: 12,
        completion_tokens: 6,
        total_tokens: 18,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 },
      },
    });
  });

  it('has its thoughts with their signatures, and its tool calls with their arguments as text', async () => {
    const { choices, usage } = ChatCompletion.parse(
      JSON.parse((await completionBody(fixture('thinking-with-tools.json'), CREATED)).toString()),
    );
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'I will look.',
        reasoning_content: 'Two cities, two calls.',
        reasoning_details: [
          {
            type: 'reasoning.text',
            text: 'Two cities, two calls.',
            signature: 'EqoBCkgIARABGAIiQL8=',
            format: 'anthropic-claude-v1',
            index: 0,
          },
          { type: 'reasoning.encrypted', data: 'EmwKAhgBEgy3va3pzix=', format: 'anthropic-claude-v1', index: 1 },
        ],
        tool_calls: [
          {
            id: 'toolu_01A09q90qw90lq917835lq9',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Köln","days":1}' },
          },
          { id: 'toolu_01B19q90qw90lq917835lq9', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
        ],
      },
    });
    expect(usage).toMatchObject({ prompt_tokens: 3721, completion_tokens_details: { reasoning_tokens: 40 } });
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['a_reason_of_next_year', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
  ])('that ended with %s ends with %s', (stop_reason, finish_reason) => {
    expect(first({ stop_reason, content: [text('Hm.')] })?.finish_reason).toBe(finish_reason);
  });

  it('that was refused tells why, and has no content where nothing was said', () => {
    const refused = { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'bio', explanation: 'That could do harm.' } };
    expect(first(refused)).toMatchObject({ finish_reason: 'content_filter', message: { content: null, refusal: 'That could do harm.' } });
    expect(first({ ...refused, content: [text('Well,')] })?.message).toMatchObject({ content: 'Well,', refusal: 'That could do harm.' });
  });

  it('that came through the answering tool is its text, and no call of a tool', () => {
    const content = [text('Here it is:'), { type: 'tool_use', id: 'toolu_1', name: 'tallygate_structured_answer', input: { name: 'Ada' } }];
    expect(first({ stop_reason: 'tool_use', content })).toMatchObject({ finish_reason: 'stop', message: { content: '{"name":"Ada"}' } });
    expect(first({ stop_reason: 'tool_use', content })?.message.tool_calls).toBeUndefined();
  });

  it('joins its texts and leaves out blocks of next year', () => {
    expect(first({ stop_reason: 'end_turn', content: [text('a'), { type: 'hologram' }, text('b')] })?.message.content).toBe('ab');
  });

  it.each(['', '{', '[]', '{"type":"error","error":{"type":"api_error","message":"No."}}'])(
    'stays as it is where it is none: %s',
    async (body) => {
      expect((await completionBody(Buffer.from(body), CREATED)).toString()).toBe(body);
    },
  );
});
