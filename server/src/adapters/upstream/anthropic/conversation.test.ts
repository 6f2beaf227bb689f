import type { ChatCompletionRequest } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { Untranslatable } from '../fault.ts';
import { conversationOf } from './conversation.ts';

type Messages = ChatCompletionRequest['messages'];
const text = (said: string) => ({ type: 'text', text: said });
const user = (content: Messages[number]['content'], more: object = {}) => ({ role: 'user' as const, content, ...more });
const assistant = (content: string | null, more: object = {}) => ({ role: 'assistant' as const, content, ...more });
const call = (id: string, args: string, name = 'look') => ({ id, type: 'function', function: { name, arguments: args } });
const result = (tool_call_id: string, content: Messages[number]['content']) => ({ role: 'tool' as const, tool_call_id, content });

describe('a conversation', () => {
  it('has what systems and developers say in its system prompt, wherever that stood', () => {
    const { system, turns } = conversationOf([
      { role: 'system', content: 'Be brief.' },
      user('Hi.'),
      { role: 'developer', content: [{ type: 'text', text: 'In German.', cache_control: { type: 'ephemeral' } }] },
    ]);
    expect(system).toEqual([text('Be brief.'), { ...text('In German.'), cache_control: { type: 'ephemeral' } }]);
    expect(turns).toEqual([{ role: 'user', content: [text('Hi.')] }]);
  });

  it('alternates: what one side says in a row is one turn', () => {
    const { turns } = conversationOf([user('a'), user('b'), assistant('c'), assistant('d'), user('e')]);
    expect(turns.map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 2],
      ['assistant', 2],
      ['user', 1],
    ]);
  });

  it('has the results of parallel tool calls in one turn, before what the user says next', () => {
    const { turns } = conversationOf([
      user('Compare.'),
      assistant(null, { tool_calls: [call('call_1', '{"city":"Köln"}'), call('call_2', '')] }),
      result('call_1', 'rain'),
      result('call_2', [{ type: 'text', text: 'sun' }]),
      user('And now?'),
    ]);
    expect(turns.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_1', name: 'look', input: { city: 'Köln' } },
          { type: 'tool_use', id: 'call_2', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: 'rain' },
          { type: 'tool_result', tool_use_id: 'call_2', content: [text('sun')] },
          text('And now?'),
        ],
      },
    ]);
  });

  it.each([
    ['{"city":', { arguments: '{"city":' }],
    ['["a"]', { arguments: ['a'] }],
    ['null', {}],
    [' ', {}],
  ])('shows the model arguments that are no object as what they are: %s', (args, input) => {
    const { turns } = conversationOf([user('a'), assistant(null, { tool_calls: [call('x', args)] })]);
    expect(turns[1]?.content[0]).toMatchObject({ input });
  });

  it('gives ids of other models’ calls the letters that Anthropic takes, on both sides alike', () => {
    const { turns } = conversationOf([
      user('a'),
      assistant(null, { tool_calls: [call('functions.look:0', '{}')] }),
      result('functions.look:0', 'b'),
    ]);
    expect(turns[1]?.content[0]).toMatchObject({ id: 'functions_2elook_3a0' });
    expect(turns[2]?.content[0]).toMatchObject({ tool_use_id: 'functions_2elook_3a0' });
  });

  it('leaves out what says nothing', () => {
    const { turns } = conversationOf([
      user(''),
      user('a'),
      assistant(null),
      assistant(' \n'),
      user([{ type: 'text', text: '' }]),
      user('b'),
    ]);
    expect(turns).toEqual([{ role: 'user', content: [text('a'), text('b')] }]);
  });

  it('is begun by the user, even where the assistant speaks first or only a system prompt does', () => {
    expect(conversationOf([assistant('Hello!'), user('Hi.')]).turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(conversationOf([{ role: 'system', content: 'Tell a joke.' }])).toEqual({
      system: [],
      turns: [{ role: 'user', content: [text('Tell a joke.')] }],
    });
  });

  it('does not end in white space where the assistant is to go on', () => {
    expect(conversationOf([user('a'), assistant('The answer is ')]).turns[1]?.content).toEqual([text('The answer is')]);
  });

  it('puts the thoughts that a caller sends back before what they led to, joined from the pieces of a stream', () => {
    const format = 'anthropic-claude-v1';
    const reasoning_details = [
      { type: 'reasoning.text', text: 'Two ', format, index: 0 },
      { type: 'reasoning.text', text: 'calls.', format, index: 0 },
      { type: 'reasoning.text', signature: 'c2ln', format, index: 0 },
      { type: 'reasoning.encrypted', data: 'ZGF0YQ==', format, index: 1 },
      { type: 'reasoning.text', text: 'Unsigned.', format, index: 2 },
      { type: 'reasoning.text', text: 'Of another model.', signature: 'eA==', format: 'google-gemini-v1', index: 3 },
    ];
    const { turns } = conversationOf([
      user('a'),
      assistant('I look.', { reasoning_details, tool_calls: [call('x', '{}')] }),
      result('x', 'b'),
    ]);
    expect(turns[1]?.content).toEqual([
      { type: 'thinking', thinking: 'Two calls.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'ZGF0YQ==' },
      text('I look.'),
      { type: 'tool_use', id: 'x', name: 'look', input: {} },
    ]);
  });

  it('carries the caller’s marks for the cache: on parts, and from messages to their last block', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const { turns } = conversationOf([
      user([
        { type: 'text', text: 'long', cache_control },
        { type: 'text', text: 'short' },
      ]),
      assistant('c'),
      user('d', { cache_control }),
    ]);
    expect(turns[0]?.content).toEqual([{ ...text('long'), cache_control }, text('short')]);
    expect(turns[2]?.content).toEqual([{ ...text('d'), cache_control }]);
  });

  it('refuses messages of a role that is gone, naming the field', () => {
    expect(() => conversationOf([{ role: 'function', name: 'f', content: 'x' }])).toThrow(Untranslatable);
  });
});
