/** Request fields that come with a capability, on chat models. */
const BY_CAPABILITY: Readonly<Record<string, readonly string[]>> = {
  tools: ['tools', 'tool_choice'],
  parallel_tools: ['parallel_tool_calls'],
  json_schema: ['response_format'],
  reasoning: ['reasoning_effort'],
  streaming: ['stream', 'stream_options'],
};

const SAMPLING = [
  'temperature',
  'top_p',
  'stop',
  'seed',
  'n',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'logit_bias',
];

const BY_KIND: Readonly<Record<string, readonly string[]>> = {
  chat: ['messages', 'max_tokens', 'max_completion_tokens', 'metadata', 'user'],
  completion: ['prompt', 'max_tokens', 'suffix', 'echo', 'best_of', 'user', ...SAMPLING],
  embedding: ['input', 'dimensions', 'encoding_format', 'user'],
  image: ['prompt', 'n', 'size', 'quality', 'background', 'output_format', 'output_compression', 'user'],
  moderation: ['input'],
  tts: ['input', 'voice', 'response_format', 'speed'],
  stt: ['file', 'language', 'prompt', 'response_format', 'temperature', 'timestamp_granularities'],
  video: ['prompt', 'seconds', 'size', 'input_reference', 'characters'],
};

/** What OpenRouter-style clients read to decide which fields to send. Reasoning models take no sampling parameters. */
export function supportedParameters(
  kind: string,
  capabilities: readonly string[],
  {
    unsupported_parameters: without = [],
    additional_parameters: also = [],
  }: { unsupported_parameters?: readonly string[] | undefined; additional_parameters?: readonly string[] | undefined },
): string[] {
  const sampling = kind === 'chat' && !capabilities.includes('reasoning') ? SAMPLING : [];
  const extra = kind === 'chat' || kind === 'completion' ? capabilities.flatMap((capability) => BY_CAPABILITY[capability] ?? []) : [];
  const all = new Set([...(BY_KIND[kind] ?? []), ...sampling, ...extra, ...also]);
  for (const parameter of without) all.delete(parameter);
  return [...all].sort();
}
