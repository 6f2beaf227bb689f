import * as z from 'zod';
import { anyJson, fallbackModels, modelField, streamField, userField } from './model-fields.ts';

/** An item of the input or the output. Which types there are is the provider's business, and grows. */
export const ResponseItem = z
  .looseObject({ type: z.string().optional(), id: z.string().nullable().optional(), role: z.string().optional() })
  .meta({
    id: 'ResponseItem',
    description: 'A message, a call, a call’s output, a reasoning item …',
    examples: [{ role: 'user', content: 'Say hello.' }],
  });
export type ResponseItem = z.infer<typeof ResponseItem>;

export const ResponseRequest = z
  .looseObject({
    model: modelField('gpt-4o-mini'),
    models: fallbackModels,
    input: z
      .union([z.string(), z.array(ResponseItem)], 'Expected a string or a list of items')
      .optional()
      .meta({ examples: ['Say hello.'] }),
    instructions: z.union([z.string(), z.array(ResponseItem), z.null()]).optional(),
    previous_response_id: z.string().max(200).nullable().optional(),
    conversation: z.union([z.string().max(200), z.looseObject({ id: z.string().max(200) }), z.null()]).optional(),
    store: z.boolean().nullable().optional().meta({ description: 'Keep the response for 30 days. Default: true.' }),
    background: z.boolean().nullable().optional(),
    stream: streamField,
    stream_options: z.looseObject({ include_obfuscation: z.boolean().nullable().optional() }).nullable().optional(),
    max_output_tokens: z
      .int()
      .min(16)
      .max(2_147_483_647)
      .nullable()
      .optional()
      .meta({ examples: [256] }),
    max_tool_calls: z.int().min(0).nullable().optional(),
    temperature: z.number().min(0).max(2).nullable().optional(),
    top_p: z.number().min(0).max(1).nullable().optional(),
    top_logprobs: z.int().min(0).max(20).nullable().optional(),
    tools: z
      .array(z.looseObject({ type: z.string() }))
      .max(512)
      .optional(),
    tool_choice: anyJson('`none`, `auto`, `required` or a named tool.').optional(),
    parallel_tool_calls: z.boolean().nullable().optional(),
    text: z
      .looseObject({
        format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).optional(),
        verbosity: z.string().nullable().optional(),
      })
      .optional(),
    reasoning: z.looseObject({ effort: z.string().nullable().optional(), summary: z.string().nullable().optional() }).nullable().optional(),
    truncation: z.enum(['auto', 'disabled']).nullable().optional(),
    include: z.array(z.string()).nullable().optional(),
    metadata: z.record(z.string().max(64), z.string().max(512)).nullable().optional(),
    service_tier: z.string().nullable().optional(),
    safety_identifier: z.string().max(512).nullable().optional(),
    prompt_cache_key: z.string().max(512).nullable().optional(),
    user: userField,
  })
  .meta({
    id: 'ResponseRequest',
    description: 'OpenAI’s Responses request. Fields that are not listed here are passed through to the provider.',
    examples: [{ model: 'gpt-4o-mini', input: 'Say hello.' }],
  });
export type ResponseRequest = z.infer<typeof ResponseRequest>;
