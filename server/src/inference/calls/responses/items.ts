import type { ResponseItem } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import type { Problem } from '../../../kernel/problem.ts';
import { isRecord } from '../usage.ts';
import { withId } from './ids.ts';

type Json = Readonly<Record<string, unknown>>;

const ROLES = new Set(['user', 'assistant', 'system', 'developer']);
/** The members without which an item of the type says nothing, and what they have to be. OpenAI's types, all of them. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, 'text' | 'any'>>>> = {
  function_call: { call_id: 'text', name: 'text', arguments: 'text' },
  function_call_output: { call_id: 'text', output: 'any' },
  custom_tool_call: { call_id: 'text', name: 'text', input: 'text' },
  custom_tool_call_output: { call_id: 'text', output: 'any' },
  item_reference: { id: 'text' },
  compaction: { encrypted_content: 'text' },
  computer_call_output: { call_id: 'text', output: 'any' },
  local_shell_call_output: { output: 'any' },
  shell_call_output: { call_id: 'text', output: 'any' },
  apply_patch_call_output: { call_id: 'text' },
  mcp_approval_response: { approval_request_id: 'text' },
  reasoning: {},
  compaction_trigger: {},
  computer_call: {},
  file_search_call: {},
  web_search_call: {},
  image_generation_call: {},
  code_interpreter_call: {},
  local_shell_call: {},
  shell_call: {},
  apply_patch_call: {},
  mcp_call: {},
  mcp_list_tools: {},
  mcp_approval_request: {},
  tool_search_call: {},
  tool_search_output: {},
  additional_tools: {},
  configuration_update: {},
  program: {},
  program_output: {},
};
/** Parts of messages, with the member that a part cannot be without; null: one of several. */
const PARTS: Readonly<Record<string, string | null>> = {
  input_text: 'text',
  output_text: 'text',
  text: 'text',
  summary_text: 'text',
  reasoning_text: 'text',
  refusal: 'refusal',
  input_image: null,
  input_file: null,
  input_audio: 'input_audio',
  computer_screenshot: null,
};

/**
 * Items as a caller gave them, each with its type.
 *
 * @param field of the body that they are in
 * @throws Problem `validation_failed` for what is no item of OpenAI's
 */
export function checkedItems(items: readonly ResponseItem[], field: 'input' | 'items'): ResponseItem[] {
  return items.map((item, index) => {
    const wrong: Wrong = (path, msg) => invalidInput([{ loc: ['body', field, index, ...path], msg, type: 'invalid' }]);
    const type = item.type ?? (item.role === undefined && typeof item.id === 'string' ? 'item_reference' : 'message');
    const members = MEMBERS[type];
    if (type === 'message') checkMessage(item, wrong);
    else if (members) checkMembers(item, members, wrong);
    else throw wrong(['type'], `must be a type of item, such as "message"; "${type.slice(0, 40)}" is none`);
    return { ...item, type };
  });
}

type Wrong = (path: readonly (string | number)[], msg: string) => Problem;

function checkMembers(item: Json, members: Readonly<Record<string, 'text' | 'any'>>, wrong: Wrong): void {
  for (const [name, kind] of Object.entries(members)) {
    if (item[name] === undefined || item[name] === null) throw wrong([name], 'is missing');
    if (kind === 'text' && typeof item[name] !== 'string') throw wrong([name], 'must be a text');
  }
}

function checkMessage({ role, content }: ResponseItem, wrong: Wrong): void {
  if (role === undefined || !ROLES.has(role)) throw wrong(['role'], 'must be user, assistant, system or developer');
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) throw wrong(['content'], 'must be a text or a list of parts');
  for (const [at, part] of content.entries()) {
    if (!isRecord(part)) throw wrong(['content', at], 'must be an object with a type');
    const { type } = part;
    const member = typeof type === 'string' ? PARTS[type] : undefined;
    if (member === undefined) throw wrong(['content', at, 'type'], `must be one of ${Object.keys(PARTS).join(', ')}`);
    if (member === null) continue;
    if (part[member] === undefined || part[member] === null) throw wrong(['content', at, member], 'is missing');
    if (member !== 'input_audio' && typeof part[member] !== 'string') throw wrong(['content', at, member], 'must be a text');
  }
}

/** Items that OpenAI shows with a status. */
const WITH_STATUS = new Set(['message', 'function_call', 'function_call_output']);

/** An item as it is kept, in OpenAI's full shape: with an id, a status where it has one, and content in parts. */
export function wholeItem(given: ResponseItem): ResponseItem {
  const item = withId({ ...given, type: given.type ?? 'message' });
  const { type = 'message', role, content } = item;
  return {
    ...item,
    ...(WITH_STATUS.has(type) && { status: item['status'] ?? 'completed' }),
    ...(type === 'message' && { content: (typeof content === 'string' ? [textPart(content, role)] : partsOf(content)).map(wholePart) }),
  };
}

const partsOf = (content: unknown): unknown[] => (Array.isArray(content) ? content : []);

const textPart = (text: string, role: string | undefined): Json => ({ type: role === 'assistant' ? 'output_text' : 'input_text', text });

const wholePart = (part: unknown): unknown =>
  isRecord(part) && part['type'] === 'output_text'
    ? { ...part, annotations: part['annotations'] ?? [], logprobs: part['logprobs'] ?? [] }
    : part;
