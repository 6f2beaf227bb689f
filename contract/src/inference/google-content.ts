import * as z from 'zod';
import { anyJson } from './model-fields.ts';

/** Of the gateway's own making where it is left out: Google's ids are optional. */
const id = z.string().max(256).nullable().optional();

const GOOGLES = 'Sent to Google, and to no other provider.';

const Blob = z.strictObject({
  mimeType: z.string().min(1).max(200),
  data: z.string().meta({ description: 'Base64.' }),
  displayName: z.string().nullable().optional(),
});

const FileData = z.strictObject({
  fileUri: z
    .string()
    .min(1)
    .meta({ description: 'An https address. Files that are kept at Google are not the caller’s, and are refused.' }),
  mimeType: z.string().max(200).nullable().optional(),
  displayName: z.string().nullable().optional(),
});

const FunctionCall = z.strictObject({
  id,
  name: z.string().min(1).max(200),
  args: z.record(z.string(), anyJson('As the function takes it.')).nullable().optional(),
});

const FunctionResponse = z.strictObject({
  id,
  name: z.string().min(1).max(200),
  response: z.record(z.string(), anyJson('What the function gave back.')).nullable().optional(),
  parts: z
    .array(z.strictObject({ inlineData: Blob }))
    .max(1_000)
    .nullable()
    .optional()
    .meta({ description: 'Images that it gave back.' }),
  willContinue: z.literal(false, 'must be false: what a function gives back is taken whole').nullable().optional(),
  scheduling: z.string().max(40).nullable().optional(),
});

export const GooglePart = z
  .strictObject({
    text: z.string().nullable().optional(),
    inlineData: Blob.nullable().optional(),
    fileData: FileData.nullable().optional(),
    functionCall: FunctionCall.nullable().optional(),
    functionResponse: FunctionResponse.nullable().optional(),
    thought: z
      .boolean()
      .nullable()
      .optional()
      .meta({ description: 'A thought of the model. Those of earlier turns go to Google’s models alone.' }),
    thoughtSignature: z.string().nullable().optional().meta({ description: 'Sent back to Google’s models as it came.' }),
    mediaResolution: anyJson(`How closely it is looked at: every image is held at the most that one can cost. ${GOOGLES}`).optional(),
    videoMetadata: anyJson(`Which part of a video is looked at, and how closely. ${GOOGLES}`).optional(),
    partMetadata: anyJson(GOOGLES).optional(),
  })
  .meta({ id: 'GooglePart', description: 'A part of a turn: a text, a file, a call of a function, or what one gave back.' });
export type GooglePart = z.infer<typeof GooglePart>;

export const GoogleContent = z
  .strictObject({
    role: z.enum(['user', 'model', 'function', 'system']).nullable().optional(),
    parts: z.array(GooglePart).max(100_000).nullable().optional(),
  })
  .meta({ id: 'GoogleContent', description: 'A turn of the conversation.', examples: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] });
export type GoogleContent = z.infer<typeof GoogleContent>;

const Schema = z.record(z.string(), anyJson('A schema.')).nullable().optional();

const FunctionDeclaration = z.looseObject({
  name: z.string().min(1).max(200),
  description: z.string().nullable().optional(),
  parameters: Schema.meta({ description: 'Google’s schema, with its types in upper case.' }),
  parametersJsonSchema: Schema.meta({ description: 'JSON Schema, in place of `parameters`.' }),
  response: Schema.meta({ description: `What it gives back. ${GOOGLES}` }),
  responseJsonSchema: Schema,
  behavior: z.enum(['BLOCKING', 'UNSPECIFIED']).nullable().optional(),
});

/** What Google runs itself. */
export const GOOGLE_HOSTED_TOOLS = [
  'googleSearch',
  'googleSearchRetrieval',
  'codeExecution',
  'urlContext',
  'googleMaps',
  'fileSearch',
  'computerUse',
  'mcpServers',
  'enterpriseWebSearch',
  'retrieval',
  'exaAiSearch',
  'parallelAiSearch',
] as const;

const hosted = anyJson('Run by Google: refused, since the catalogue has no price for it.').optional();

export const GoogleTool = z
  .strictObject({
    functionDeclarations: z.array(FunctionDeclaration).max(512).nullable().optional(),
    ...(Object.fromEntries(GOOGLE_HOSTED_TOOLS.map((name) => [name, hosted])) as Record<
      (typeof GOOGLE_HOSTED_TOOLS)[number],
      typeof hosted
    >),
  })
  .meta({ id: 'GoogleTool', description: 'Functions that the model may ask to have called.' });
export type GoogleTool = z.infer<typeof GoogleTool>;

export const GoogleToolConfig = z
  .strictObject({
    functionCallingConfig: z
      .strictObject({
        mode: z.enum(['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']).nullable().optional(),
        allowedFunctionNames: z.array(z.string().max(200)).max(512).nullable().optional(),
      })
      .nullable()
      .optional(),
    retrievalConfig: anyJson('Of tools that Google runs: not sent.').optional(),
    includeServerSideToolInvocations: z.boolean().nullable().optional(),
  })
  .meta({ id: 'GoogleToolConfig', description: 'Whether, and which, functions are to be called.' });
