import * as z from 'zod';
import { anyJson } from './model-fields.ts';

/** Where the content of an image or a document is. `content` has blocks of its own; `file` is kept at the provider, and refused. */
const Source = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('base64'), media_type: z.string().min(1), data: z.string() }),
    z.looseObject({ type: z.literal('url'), url: z.string().min(1) }),
    z.looseObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
    z.looseObject({
      type: z.literal('content'),
      content: z.union([z.string(), z.array(z.looseObject({ type: z.enum(['text', 'image']) }))], 'must be a string or a list of blocks'),
    }),
    z.looseObject({ type: z.literal('file'), file_id: z.string() }),
  ])
  .meta({ id: 'MessageSource', description: 'An image or a document: inline, or its address.' });

const text = z.looseObject({ type: z.literal('text'), text: z.string() });
const image = z.looseObject({ type: z.literal('image'), source: Source });
const document = z.looseObject({ type: z.literal('document'), source: Source, title: z.string().nullable().optional() });
const searchResult = z.looseObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(text),
});

const ToolResultContent = z.discriminatedUnion('type', [
  text,
  image,
  document,
  searchResult,
  z.looseObject({ type: z.literal('tool_reference'), tool_name: z.string() }),
  z.looseObject({ type: z.literal('browser_state') }),
]);

/** Blocks of tools that the provider runs: only its own past answers have them. */
const OF_SERVER_TOOLS = [
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_use',
  'mcp_tool_result',
  'container_upload',
  'compaction',
] as const;

const ContentBlock = z
  .discriminatedUnion('type', [
    text,
    image,
    document,
    searchResult,
    z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
    z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() }),
    z.looseObject({
      type: z.literal('tool_use'),
      id: z.string().min(1).max(256),
      name: z.string().min(1).max(200),
      input: z.record(z.string(), anyJson('As the tool takes it.')),
    }),
    z.looseObject({
      type: z.literal('tool_result'),
      tool_use_id: z.string().min(1).max(256),
      content: z
        .union([z.string(), z.array(ToolResultContent)], 'must be a string or a list of blocks')
        .nullable()
        .optional(),
      is_error: z.boolean().nullable().optional(),
    }),
    z.looseObject({ type: z.enum(OF_SERVER_TOOLS) }),
  ])
  .meta({ id: 'MessageContentBlock', description: 'A block of a message’s content.' });
export type MessageContentBlock = z.infer<typeof ContentBlock>;

export const MessageParam = z
  .looseObject({
    role: z.enum(['user', 'assistant', 'system']),
    content: z.union([z.string(), z.array(ContentBlock)], 'must be a string or a list of blocks'),
  })
  .meta({ id: 'MessageParam', description: 'A turn of the conversation.', examples: [{ role: 'user', content: 'Say hello.' }] });
export type MessageParam = z.infer<typeof MessageParam>;

export const SystemPrompt = z
  .union([z.string(), z.array(text)], 'must be a string or a list of text blocks')
  .nullable()
  .optional()
  .meta({ description: 'The system prompt.' });

export const MessageTool = z
  .looseObject({
    type: z.string().nullable().optional().meta({ description: 'Left out, or `custom`, for a tool of the caller’s own.' }),
    name: z.string().min(1).max(200).optional(),
    description: z.string().nullable().optional(),
    input_schema: z.looseObject({ type: z.literal('object') }).optional(),
  })
  .refine(({ type, name, input_schema }) => !isCustom(type) || (name !== undefined && input_schema !== undefined), {
    message: 'must have a `name` and an `input_schema`',
  })
  .meta({ id: 'MessageTool', description: 'A tool that the model may ask to have called.' });
export type MessageTool = z.infer<typeof MessageTool>;

const isCustom = (type: unknown): boolean => type === undefined || type === null || type === 'custom';
