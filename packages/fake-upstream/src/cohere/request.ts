import { type Fields, isFields } from '../fields.ts';

const KNOWN = new Set([
  ...['model', 'stream', 'messages', 'tools', 'tool_choice', 'strict_tools', 'documents', 'citation_options', 'response_format'],
  ...['safety_mode', 'max_tokens', 'stop_sequences', 'temperature', 'seed', 'frequency_penalty', 'presence_penalty', 'k', 'p', 'logprobs'],
  ...['thinking', 'priority'],
]);
const ROLES = new Set(['system', 'user', 'assistant', 'tool']);
const CONTENT = new Set(['text', 'image_url', 'thinking', 'document']);

/** What Cohere would refuse, in about its words; undefined where it would answer. */
export function whatIsWrongWith(body: Fields): string | undefined {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return `unknown field: parameter '${unknown}' is not a valid field`;
  if (typeof body['model'] !== 'string') return "invalid request: missing field 'model'";
  return wrongMessages(body) ?? wrongTools(body) ?? wrongSampling(body);
}

function wrongMessages({ messages }: Fields): string | undefined {
  const all = Array.isArray(messages) ? messages.filter(isFields) : [];
  if (all.length === 0) return 'invalid request: messages must be a list with at least one message';
  for (const [at, { role, content, tool_calls: calls, tool_call_id: id }] of all.entries()) {
    if (!ROLES.has(String(role))) return `invalid role in message at messages[${at}]`;
    const parts = Array.isArray(content) ? content.filter(isFields) : [];
    if (parts.some(({ type }) => !CONTENT.has(String(type)))) return `invalid type in content of message at messages[${at}]`;
    if (content === undefined && !Array.isArray(calls)) return `message at messages[${at}] must have non-empty content or tool calls`;
    if (role === 'tool' && typeof id !== 'string') return `message at messages[${at}]: tool_call_id is required`;
  }
  return undefined;
}

function wrongTools({ tools, tool_choice: choice, response_format: format }: Fields): string | undefined {
  const list = Array.isArray(tools) ? tools.filter(isFields) : [];
  for (const { type, function: tool } of list)
    if (type !== 'function' || !isFields(tool) || typeof tool['name'] !== 'string' || !isFields(tool['parameters']))
      return 'invalid request: all elements in tools must have a name and parameters';
  if (choice !== undefined && choice !== 'REQUIRED' && choice !== 'NONE') return 'invalid request: tool_choice must be REQUIRED or NONE';
  if (choice !== undefined && list.length === 0) return 'invalid request: tool_choice requires tools';
  return list.length > 0 && isFields(format) ? 'invalid request: response_format is not supported with tools' : undefined;
}

const isOutside = (value: unknown, least: number, most: number): boolean =>
  value !== undefined && !(Number(value) >= least && Number(value) <= most);

function wrongSampling({
  p,
  k,
  frequency_penalty: frequency,
  presence_penalty: presence,
  seed,
  max_tokens: bound,
}: Fields): string | undefined {
  if (isOutside(p, 0.01, 0.99)) return 'invalid request: p must be between 0.01 and 0.99 inclusive.';
  if (isOutside(k, 0, 500)) return 'invalid request: k must be between 0 and 500 inclusive.';
  if (isOutside(frequency, 0, 1) || isOutside(presence, 0, 1)) return 'invalid request: penalties must be between 0 and 1 inclusive.';
  if (isOutside(seed, 0, Number.MAX_SAFE_INTEGER)) return 'invalid request: seed must not be negative.';
  return isOutside(bound, 1, Number.MAX_SAFE_INTEGER) ? 'invalid request: max_tokens must be positive.' : undefined;
}
