import type { ChatCompletionRequest } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import type { Turn } from './messages-api.ts';
import { traitsOf } from './model-traits.ts';
import { type ThinkingContext, thinkingOf } from './thinking.ts';

const USER: Turn = { role: 'user', content: [{ type: 'text', text: 'a' }] };
const CALLED: Turn = { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'look', input: {} }] };
const THOUGHT: Turn = { role: 'assistant', content: [{ type: 'thinking', thinking: 'h', signature: 's' }, ...CALLED.content] };
const RESULT: Turn = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'b' }] };

const of = (model: string, request: Partial<ChatCompletionRequest>, context: Partial<ThinkingContext> = {}) =>
  thinkingOf(
    { model: 'm', messages: [], ...request },
    { traits: traitsOf(model), maxTokens: 32_000, turns: [USER], toolChoice: undefined, ...context },
  );

describe('a model with a budget for its thoughts', () => {
  const budget = (reasoning_effort: string, maxTokens: number) => of('claude-haiku-4-5', { reasoning_effort }, { maxTokens }).thinking;

  it.each([
    ['minimal', 32_000, 1024],
    ['low', 32_000, 2048],
    ['medium', 32_000, 8192],
    ['high', 32_000, 16_384],
    ['xhigh', 64_000, 32_768],
    ['high', 8000, 6400],
    ['low', 1280, 1024],
  ])('gets one for the effort %s within %i tokens: %i', (effort, maxTokens, budget_tokens) => {
    expect(budget(effort, maxTokens)).toEqual({ type: 'enabled', budget_tokens });
  });

  it('does not think where the bound has no room for it, where it must call a tool, or where nothing is asked', () => {
    expect(budget('high', 1200)).toBeUndefined();
    expect(of('claude-haiku-4-5', { reasoning_effort: 'high' }, { toolChoice: { type: 'any' } })).toEqual({});
    expect(of('claude-haiku-4-5', {})).toEqual({});
    expect(of('claude-haiku-4-5', { reasoning_effort: 'none' })).toEqual({});
  });

  it('thinks on between its tool calls only where the caller sent its thoughts back', () => {
    const among = (...turns: Turn[]) => of('claude-haiku-4-5', { reasoning_effort: 'low' }, { turns }).thinking;
    expect(among(USER, CALLED, RESULT)).toBeUndefined();
    expect(among(USER, THOUGHT, RESULT)).toBeDefined();
    expect(among(USER, CALLED, RESULT, { role: 'assistant', content: [{ type: 'text', text: 'b' }] }, USER)).toBeDefined();
  });
});

describe('a model that thinks as long as it likes', () => {
  it.each([
    ['claude-opus-4-8', 'xhigh', { thinking: { type: 'adaptive', display: 'summarized' }, effort: 'xhigh' }],
    ['claude-opus-4-8', 'minimal', { thinking: { type: 'adaptive', display: 'summarized' }, effort: 'low' }],
    ['claude-sonnet-4-6', 'medium', { thinking: { type: 'adaptive' }, effort: 'medium' }],
    ['claude-sonnet-4-6', 'xhigh', { thinking: { type: 'adaptive' }, effort: 'high' }],
    ['claude-opus-4-8', 'none', {}],
    ['claude-opus-5', 'none', { thinking: { type: 'disabled' } }],
    ['claude-opus-5-5', 'none', { effort: 'low' }],
  ])('is told an effort: %s, %s', (model, reasoning_effort, expected) => {
    expect(of(model, { reasoning_effort })).toEqual(expected);
  });

  it('is told how hard to work, not to think, where it must call a tool', () => {
    expect(of('claude-opus-4-8', { reasoning_effort: 'high' }, { toolChoice: { type: 'tool', name: 'look' } })).toEqual({ effort: 'high' });
  });
});

it('asks a model that cannot think for nothing', () => {
  expect(of('claude-3-5-haiku-20241022', { reasoning_effort: 'high' })).toEqual({});
});

it('takes Anthropic’s own field as it is, but for a budget that the bound does not cover', () => {
  const thinking = { type: 'enabled', budget_tokens: 4000 };
  expect(of('claude-haiku-4-5', { thinking })).toEqual({ thinking });
  expect(of('claude-haiku-4-5', { thinking }, { maxTokens: 2000 })).toEqual({ thinking: { type: 'enabled', budget_tokens: 1600 } });
  expect(of('claude-haiku-4-5', { thinking }, { maxTokens: 500 })).toEqual({ thinking: { type: 'disabled' } });
});
