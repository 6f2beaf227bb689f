/** What is asked for, whichever maker's words say it. */
export interface Asked {
  readonly isStreamed: boolean;
  readonly most?: number;
  readonly hasPicture?: boolean;
  readonly hasTool?: boolean;
  readonly schema?: object;
  readonly thinks?: boolean;
}

/** What an answer says, whichever maker's words say it. */
export interface Said {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly finish: 'whole' | 'bound' | 'refused';
  /** USD, as the answer shows it. */
  readonly cost: number;
}

// biome-ignore lint/suspicious/noExplicitAny: three makers' documents, of which each reader knows its own
type Json = any;

export interface Surface {
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  path(model: string, asked: Asked): string;
  body(model: string, asked: Asked): object;
  /** @param events the one document of a plain answer, or those of a stream */
  said(events: readonly Json[]): Said;
}

export const PICTURE = 'R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const QUESTION = 'Say hello.';
const joined = (texts: readonly (string | undefined)[]): string => texts.join('');
const parsed = (text: string): unknown => JSON.parse(text);

const responses: Surface = {
  name: 'responses',
  path: () => '/v1/responses',
  body: (model, { isStreamed, most, hasPicture, hasTool, schema, thinks }) => ({
    ...{ model, store: false, stream: isStreamed, max_output_tokens: most },
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: QUESTION },
          ...(hasPicture ? [{ type: 'input_image', image_url: `data:image/gif;base64,${PICTURE}` }] : []),
        ],
      },
    ],
    ...(hasTool && { tools: [{ type: 'function', name: 'look', parameters: PARAMETERS }] }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } } }),
    ...(thinks && { reasoning: { effort: 'low', summary: 'auto' } }),
  }),
  said(events) {
    const response = events.at(-1)?.response ?? events.at(-1);
    const items: Json[] = response.output;
    const parts: Json[] = items.flatMap(({ content = [] }) => content);
    const reason = response.incomplete_details?.reason;
    const isRefused = reason === 'content_filter' || parts.some(({ type }) => type === 'refusal');
    return {
      text: joined(parts.filter(({ type }) => type === 'output_text').map(({ text }) => text)),
      thoughts: joined(parts.filter(({ type }) => type === 'reasoning_text').map(({ text }) => text)),
      calls: items.flatMap(({ type, name, arguments: args }) => (type === 'function_call' ? [{ name, args: parsed(args) }] : [])),
      finish: isRefused ? 'refused' : reason === 'max_output_tokens' ? 'bound' : 'whole',
      cost: response.usage.cost,
    };
  },
};

const messages: Surface = {
  name: 'messages',
  headers: { 'anthropic-version': '2023-06-01' },
  path: () => '/v1/messages',
  body: (model, { isStreamed, most = 2_000, hasPicture, hasTool, schema, thinks }) => ({
    ...{ model, stream: isStreamed, max_tokens: most },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: QUESTION },
          ...(hasPicture ? [{ type: 'image', source: { type: 'base64', media_type: 'image/gif', data: PICTURE } }] : []),
        ],
      },
    ],
    ...(hasTool && { tools: [{ name: 'look', input_schema: PARAMETERS }] }),
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    ...(thinks && { thinking: { type: 'enabled', budget_tokens: 1_024 } }),
  }),
  said(events) {
    const blocks: { type: string; text: string; name: string; input: string }[] = [];
    const open = ({ type, text = '', thinking = '', name = '', input }: Json) =>
      blocks.push({ type, text: text + thinking, name, input: Object.keys(input ?? {}).length > 0 ? JSON.stringify(input) : '' });
    let last: Json = events[0];
    for (const event of events) {
      if (event.type === 'message') for (const block of event.content) open(block);
      if (event.type === 'content_block_start') open(event.content_block);
      const block = blocks[event.index ?? -1];
      if (event.type === 'content_block_delta' && block) {
        block.text += joined([event.delta.text, event.delta.thinking]);
        block.input += event.delta.partial_json ?? '';
      }
      if (event.type === 'message_delta') last = { ...event.delta, usage: event.usage };
    }
    const textOf = (wanted: string) => joined(blocks.filter(({ type }) => type === wanted).map(({ text }) => text));
    return {
      ...{ text: textOf('text'), thoughts: textOf('thinking') },
      calls: blocks.flatMap(({ type, name, input }) => (type === 'tool_use' ? [{ name, args: parsed(input) }] : [])),
      finish: last.stop_reason === 'refusal' ? 'refused' : last.stop_reason === 'max_tokens' ? 'bound' : 'whole',
      cost: last.usage.cost,
    };
  },
};

const google: Surface = {
  name: 'generateContent',
  path: (model, { isStreamed }) =>
    `/v1beta/models/${encodeURIComponent(model)}:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: (_, { most, hasPicture, hasTool, schema, thinks }) => ({
    contents: [
      { role: 'user', parts: [{ text: QUESTION }, ...(hasPicture ? [{ inlineData: { mimeType: 'image/gif', data: PICTURE } }] : [])] },
    ],
    ...(hasTool && { tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: PARAMETERS }] }] }),
    generationConfig: {
      ...(most && { maxOutputTokens: most }),
      ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
      ...(thinks && { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } }),
    },
  }),
  said(events) {
    const candidates: Json[] = events.flatMap(({ candidates: some = [] }) => some);
    const parts: Json[] = candidates.flatMap(({ content }) => content?.parts ?? []);
    const reason = candidates.findLast(({ finishReason }) => finishReason)?.finishReason;
    return {
      text: joined(parts.filter(({ thought }) => !thought).map(({ text }) => text)),
      thoughts: joined(parts.filter(({ thought }) => thought).map(({ text }) => text)),
      calls: parts.flatMap(({ functionCall: call }) => (call ? [{ name: call.name, args: call.args }] : [])),
      finish: reason === 'SAFETY' ? 'refused' : reason === 'MAX_TOKENS' ? 'bound' : 'whole',
      cost: events.at(-1)?.usageMetadata.cost,
    };
  },
};

/** Those beside chat completions. */
export const OTHER_SURFACES: readonly Surface[] = [responses, messages, google];
