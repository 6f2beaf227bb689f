import type { ChatCompletionRequest } from '@tallygate/contract';
import fc from 'fast-check';

export const LOOK = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
const PERSON = { type: 'object', properties: { name: { type: 'string', minLength: 1 } } };

const said = fc.oneof(
  fc.string(),
  fc.constantFrom('', ' ', 'Grüß dich\n'),
  fc.array(fc.record({ type: fc.constant('text' as const), text: fc.string() })),
);
const person = fc.record({ role: fc.constantFrom('system' as const, 'developer' as const, 'user' as const), content: said });
const assistant = fc.record({ role: fc.constant('assistant' as const), content: fc.oneof(fc.constant(null), said) });
/** Calls of tools, then their results in any order of contents. */
const step = fc
  .uniqueArray(fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme-ascii' }), { minLength: 1, maxLength: 3 })
  .chain((ids) => fc.record({ ids: fc.constant(ids), args: fc.oneof(fc.json(), fc.string()), content: said, result: said }))
  .map(({ ids, args, content, result }): ChatCompletionRequest['messages'] => [
    { role: 'assistant', content, tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: args } })) },
    ...ids.map((id) => ({ role: 'tool' as const, tool_call_id: id, content: result })),
  ]);
const messages = fc
  .array(
    fc.oneof(
      person.map((one) => [one]),
      assistant.map((one) => [one]),
      step,
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.flat());
const fields = fc.record(
  {
    tools: fc.constant<ChatCompletionRequest['tools']>([LOOK]),
    tool_choice: fc.constantFrom('none', 'auto', 'required'),
    parallel_tool_calls: fc.boolean(),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
    response_format: fc.constantFrom(
      { type: 'json_object' as const },
      { type: 'json_schema' as const, json_schema: { name: 'x', schema: PERSON } },
    ),
  },
  { requiredKeys: [] },
);

/** Chats that OpenAI would take: any order of roles, with calls and their results, and the fields that steer the answer. */
export const CHAT_REQUESTS: fc.Arbitrary<Partial<ChatCompletionRequest> & Pick<ChatCompletionRequest, 'messages'>> = fc
  .tuple(fields, messages)
  .map(([some, conversation]) => ({ ...some, messages: conversation }));
