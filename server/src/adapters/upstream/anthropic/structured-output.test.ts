import type { ChatCompletionRequest } from '@tallygate/contract';
import { describe, expect, it } from 'vitest';
import { traitsOf } from './model-traits.ts';
import { outputSchema } from './output-schema.ts';
import { structuredOutputOf, withAnswerTool } from './structured-output.ts';

const of = (model: string, response_format: ChatCompletionRequest['response_format']) =>
  structuredOutputOf({ model: 'm', messages: [], response_format }, traitsOf(model));
const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const answer = { name: 'tallygate_structured_answer', description: 'Gives the answer to the user.', input_schema: schema };

describe('the shape of an answer', () => {
  it('is asked for by its schema where the model can be held to one', () => {
    const format = { type: 'json_schema', schema: { ...schema, additionalProperties: false } };
    expect(of('claude-haiku-4-5', { type: 'json_schema', json_schema: { name: 'person', schema } })).toEqual({ format });
  });

  it('is the input of a tool where it cannot', () => {
    expect(of('claude-3-5-haiku-20241022', { type: 'json_schema', json_schema: { name: 'person', schema } })).toEqual({ tool: answer });
  });

  it.each([{ type: 'json_object' as const }, { type: 'json_schema' as const, json_schema: { name: 'any' } }])(
    'is asked for in words where there is no schema: %j',
    (format) => {
      expect(of('claude-haiku-4-5', format).instruction?.text).toMatch(/JSON object/);
    },
  );

  it('is free without a format, and with `text`', () => {
    expect(of('claude-haiku-4-5', undefined)).toEqual({});
    expect(of('claude-haiku-4-5', { type: 'text' })).toEqual({});
  });
});

describe('the tool that answers', () => {
  const look = { name: 'look', input_schema: { type: 'object' } };

  it('must be called where there is no other, or no other may be', () => {
    expect(withAnswerTool({}, answer).tool_choice).toMatchObject({ type: 'tool', name: answer.name });
    expect(withAnswerTool({ tools: [look], tool_choice: { type: 'none' } }, answer).tool_choice).toMatchObject({
      type: 'tool',
      name: answer.name,
    });
  });

  it('stands beside the caller’s tools, one of which may be called first', () => {
    const { tools, tool_choice } = withAnswerTool({ tools: [look], tool_choice: { type: 'auto' } }, answer);
    expect(tools).toEqual([look, answer]);
    expect(tool_choice).toEqual({ type: 'any', disable_parallel_tool_use: true });
  });

  it('gives way to a tool that the caller named', () => {
    expect(withAnswerTool({ tools: [look], tool_choice: { type: 'tool', name: 'look' } }, answer).tool_choice).toEqual({
      type: 'tool',
      name: 'look',
    });
  });
});

describe('a schema that Anthropic compiles', () => {
  it('has closed objects all the way down', () => {
    const nested = {
      type: 'object',
      properties: { list: { type: 'array', items: schema }, maybe: { anyOf: [schema, { type: 'null' }] } },
      $defs: { p: schema },
    };
    const closed = { ...schema, additionalProperties: false };
    expect(outputSchema(nested)).toEqual({
      type: 'object',
      properties: { list: { type: 'array', items: closed }, maybe: { anyOf: [closed, { type: 'null' }] } },
      $defs: { p: closed },
      additionalProperties: false,
    });
  });

  it('tells in words what it cannot hold a model to', () => {
    expect(outputSchema({ type: 'integer', minimum: 1, maximum: 5, description: 'Stars.' })).toEqual({
      type: 'integer',
      description: 'Stars.\n\nConstraints: {"minimum":1,"maximum":5}',
    });
    expect(outputSchema({ type: 'string', format: 'phone' })).toEqual({ type: 'string', description: 'Constraints: {"format":"phone"}' });
  });

  it('keeps what is understood, properties named like keywords among it', () => {
    const properties = { minimum: { type: 'number' }, format: { type: 'string', format: 'date', enum: ['a'] } };
    expect(outputSchema({ type: 'object', properties, required: ['minimum'] })).toMatchObject({ properties, required: ['minimum'] });
    expect(outputSchema({ oneOf: [{ $ref: '#/$defs/p' }, { const: 1 }] })).toEqual({ anyOf: [{ $ref: '#/$defs/p' }, { const: 1 }] });
    expect(outputSchema({ type: 'array', minItems: 1 })).toEqual({ type: 'array', minItems: 1 });
  });
});
