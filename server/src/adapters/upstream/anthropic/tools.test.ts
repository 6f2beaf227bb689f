import type { ChatCompletionRequest } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { toolUseOf } from './tools.ts';

const LOOK = {
  type: 'function',
  function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
};
const WAIT = { type: 'function', function: { name: 'wait' } };
const of = (request: Partial<ChatCompletionRequest>) => toolUseOf({ model: 'm', messages: [], tools: [LOOK, WAIT], ...request }, []);

describe('tools', () => {
  it('are declared with their schemas, an empty one where they take nothing', () => {
    expect(of({}).tools).toEqual([
      { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: { at: { type: 'string' } } } },
      { name: 'wait', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  it('carry the caller’s mark for the cache', () => {
    const cache_control = { type: 'ephemeral' };
    expect(of({ tools: [{ ...WAIT, cache_control }] }).tools?.[0]).toMatchObject({ cache_control });
  });

  it.each([
    [undefined, { type: 'auto' }],
    [null, { type: 'auto' }],
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'look' } },
      { type: 'tool', name: 'look' },
    ],
  ])('are chosen as the caller says: %j', (tool_choice, expected) => {
    expect(of({ tool_choice }).tool_choice).toEqual(expected);
  });

  it('are only those that the caller allows', () => {
    const allowed = {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'wait' } }] },
    };
    const { tools, tool_choice } = of({ tool_choice: allowed });
    expect(tools?.map(({ name }) => name)).toEqual(['wait']);
    expect(tool_choice).toEqual({ type: 'any' });
  });

  it('are called one at a time where the caller wants that, which `none` has no room for', () => {
    expect(of({ parallel_tool_calls: false }).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(of({ parallel_tool_calls: false, tool_choice: 'none' }).tool_choice).toEqual({ type: 'none' });
  });

  it('of earlier turns are declared where the request has none any more, and may not be called', () => {
    const turns = [{ role: 'assistant' as const, content: [{ type: 'tool_use' as const, id: 'x', name: 'look', input: {} }] }];
    expect(toolUseOf({ model: 'm', messages: [] }, turns)).toEqual({
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    });
    expect(toolUseOf({ model: 'm', messages: [] }, [])).toEqual({});
  });

  it.each([
    [{ tools: [{ type: 'custom', custom: { name: 'sql' } }] }, 'tools'],
    [{ tool_choice: 'sometimes' }, 'tool_choice'],
    [{ tool_choice: { type: 'mcp' } }, 'tool_choice'],
  ])('of a kind that is not known here are refused: %j', (request, param) => {
    expect(() => of(request)).toThrow(expect.objectContaining({ name: 'Untranslatable', param }));
  });
});
