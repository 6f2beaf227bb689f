import { PICTURE } from './surfaces.ts';

/** A field of a request, beside what the request has without it. */
interface Field {
  /** As the documentation has it. */
  readonly name: string;
  readonly change: object;
  /** What the request it is compared with has: a tool without its choice. */
  readonly without?: object;
}

/** The fields of a surface that not every provider has a like of. */
export interface SurfaceFields {
  readonly title: string;
  readonly headers?: Readonly<Record<string, string>>;
  path(model: string): string;
  base(model: string): object;
  readonly fields: readonly Field[];
}

const field = (name: string, change: object, without?: object): Field => ({ name, change, ...(without && { without }) });

const QUESTION = 'Say hello.';
const DATA_URL = `data:image/gif;base64,${PICTURE}`;
const PDF = Buffer.from('%PDF-1.4 letter').toString('base64');
const ADDRESS = 'https://example.com/a.png';
const SCHEMA = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false };
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };

const chatTool = [{ type: 'function', function: { name: 'look', parameters: PARAMETERS } }];
const saysInChat = (...content: object[]) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: QUESTION }, ...content] }] });

const chat: SurfaceFields = {
  title: 'Chat completions',
  path: () => '/v1/chat/completions',
  base: (model) => ({ model, max_tokens: 300, messages: [{ role: 'user', content: QUESTION }] }),
  fields: [
    field('temperature', { temperature: 0.5 }),
    field('top_k', { top_k: 5 }),
    field('seed', { seed: 7 }),
    field('presence_penalty', { presence_penalty: 0.5 }),
    field('logit_bias', { logit_bias: { '50256': -100 } }),
    field('logprobs', { logprobs: true }),
    field('stop', { stop: ['END'] }),
    field('n', { n: 2 }),
    field('response_format', { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: SCHEMA } } }),
    field('tools', { tools: chatTool }),
    field('tool_choice: "none"', { tool_choice: 'none' }, { tools: chatTool }),
    field('parallel_tool_calls: false', { parallel_tool_calls: false }, { tools: chatTool }),
    field('reasoning_effort', { reasoning_effort: 'low' }),
    field('verbosity', { verbosity: 'low' }),
    field('prediction', { prediction: { type: 'content', content: 'Hello.' } }),
    field('user', { user: 'u-1' }),
    field('prompt_cache_key', { prompt_cache_key: 'k' }),
    field(
      'cache_control of a part',
      saysInChat({ type: 'text', text: 'More.', cache_control: { type: 'ephemeral' } }),
      saysInChat({ type: 'text', text: 'More.' }),
    ),
    field('a picture', saysInChat({ type: 'image_url', image_url: { url: DATA_URL } })),
    field('a picture by its address', saysInChat({ type: 'image_url', image_url: { url: ADDRESS } })),
    field('a PDF', saysInChat({ type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } })),
    field('a field that nobody knows', { tomorrow: true }),
  ],
};

const responsesTool = [{ type: 'function', name: 'look', parameters: PARAMETERS }];
const saysInResponses = (...content: object[]) => ({
  input: [{ role: 'user', content: [{ type: 'input_text', text: QUESTION }, ...content] }],
});

const responses: SurfaceFields = {
  title: 'Responses',
  path: () => '/v1/responses',
  base: (model) => ({ model, store: false, max_output_tokens: 300, input: QUESTION }),
  fields: [
    field('instructions', { instructions: 'Be brief.' }),
    field('temperature', { temperature: 0.5 }),
    field('tools', { tools: responsesTool }),
    field('tool_choice: "none"', { tool_choice: 'none' }, { tools: responsesTool }),
    field('parallel_tool_calls: false', { parallel_tool_calls: false }, { tools: responsesTool }),
    field('text.format', { text: { format: { type: 'json_schema', name: 'answer', strict: true, schema: SCHEMA } } }),
    field('text.verbosity', { text: { verbosity: 'low' } }),
    field('reasoning.effort', { reasoning: { effort: 'low' } }),
    field('top_logprobs', { top_logprobs: 2 }),
    field('user', { user: 'u-1' }),
    field('prompt_cache_key', { prompt_cache_key: 'k' }),
    field('a picture', saysInResponses({ type: 'input_image', image_url: DATA_URL })),
    field('a PDF', saysInResponses({ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` })),
    field('a field that nobody knows', { tomorrow: true }),
  ],
};

const messagesTool = [{ name: 'look', input_schema: PARAMETERS }];
const saysInMessages = (...content: object[]) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: QUESTION }, ...content] }],
});
const choice = (more: object) => ({ tool_choice: { type: 'auto', ...more } });

const messages: SurfaceFields = {
  title: 'Messages',
  headers: { 'anthropic-version': '2023-06-01' },
  path: () => '/v1/messages',
  base: (model) => ({ model, max_tokens: 2_000, messages: [{ role: 'user', content: QUESTION }] }),
  fields: [
    field('system', { system: 'Be brief.' }),
    field('temperature', { temperature: 0.5 }),
    field('top_k', { top_k: 5 }),
    field('stop_sequences', { stop_sequences: ['END'] }),
    field('tools', { tools: messagesTool }),
    field('tools: bash_20250124', { tools: [{ type: 'bash_20250124', name: 'bash' }] }),
    field('tool_choice: none', { tool_choice: { type: 'none' } }, { tools: messagesTool }),
    field('disable_parallel_tool_use', choice({ disable_parallel_tool_use: true }), { tools: messagesTool, ...choice({}) }),
    field('thinking', { thinking: { type: 'enabled', budget_tokens: 1_024 } }),
    field('output_config.format', { output_config: { format: { type: 'json_schema', schema: SCHEMA } } }),
    field('output_config.effort', { output_config: { effort: 'low' } }),
    field('metadata.user_id', { metadata: { user_id: 'u-1' } }),
    field(
      'cache_control of a block',
      saysInMessages({ type: 'text', text: 'More.', cache_control: { type: 'ephemeral' } }),
      saysInMessages({ type: 'text', text: 'More.' }),
    ),
    field('a picture', saysInMessages({ type: 'image', source: { type: 'base64', media_type: 'image/gif', data: PICTURE } })),
    field('a picture by its address', saysInMessages({ type: 'image', source: { type: 'url', url: ADDRESS } })),
    field('a PDF', saysInMessages({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } })),
    field(
      'citations of a document',
      saysInMessages({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Text.' }, citations: { enabled: true } }),
      saysInMessages({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Text.' } }),
    ),
  ],
};

const googleTool = [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: PARAMETERS }] }];
const configured = (generationConfig: object) => ({ generationConfig: { maxOutputTokens: 300, ...generationConfig } });
const saysInGoogle = (...parts: object[]) => ({ contents: [{ role: 'user', parts: [{ text: QUESTION }, ...parts] }] });

const google: SurfaceFields = {
  title: 'generateContent',
  path: (model) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
  base: () => ({ contents: [{ role: 'user', parts: [{ text: QUESTION }] }], ...configured({}) }),
  fields: [
    field('systemInstruction', { systemInstruction: { parts: [{ text: 'Be brief.' }] } }),
    field('temperature', configured({ temperature: 0.5 })),
    field('topK', configured({ topK: 5 })),
    field('seed', configured({ seed: 7 })),
    field('presencePenalty', configured({ presencePenalty: 0.5 })),
    field('stopSequences', configured({ stopSequences: ['END'] })),
    field('candidateCount', configured({ candidateCount: 2 })),
    field('responseLogprobs', configured({ responseLogprobs: true })),
    field('responseJsonSchema', configured({ responseMimeType: 'application/json', responseJsonSchema: SCHEMA })),
    field('tools', { tools: googleTool }),
    field('toolConfig: NONE', { toolConfig: { functionCallingConfig: { mode: 'NONE' } } }, { tools: googleTool }),
    field('thinkingConfig', configured({ thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } })),
    field('safetySettings', { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] }),
    field('labels', { labels: { team: 'web' } }),
    field('mediaResolution', configured({ mediaResolution: 'MEDIA_RESOLUTION_LOW' })),
    field(
      'mediaResolution of a part',
      saysInGoogle({ inlineData: { mimeType: 'image/gif', data: PICTURE }, mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } }),
      saysInGoogle({ inlineData: { mimeType: 'image/gif', data: PICTURE } }),
    ),
    field('a thought of an earlier turn', saysInGoogle({ text: 'Hm.', thought: true })),
    field('a picture', saysInGoogle({ inlineData: { mimeType: 'image/gif', data: PICTURE } })),
    field('a PDF', saysInGoogle({ inlineData: { mimeType: 'application/pdf', data: PDF } })),
    field('a file by its address', saysInGoogle({ fileData: { mimeType: 'image/png', fileUri: ADDRESS } })),
    field('a field that nobody knows', { tomorrow: true }),
  ],
};

/** What may be lost on the way, by the surface it is asked on. */
export const SURFACE_FIELDS: readonly SurfaceFields[] = [chat, responses, messages, google];
