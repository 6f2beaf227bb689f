import { isRecord } from '../usage.ts';
import { counted, type FieldRules, free, refused, type Unpriced, unpricedMember } from './field-rule.ts';
import { isNone } from './kept-files.ts';
import { type ToolRule, unpricedTool } from './tool-rules.ts';

type Json = Readonly<Record<string, unknown>>;

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const isAny = (): boolean => true;

/** By the type of a block, its members: all that is counted with it, or costs nothing. */
const BLOCK_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: words('text citations'),
  image: words('source transformations'),
  document: words('source title context citations'),
  search_result: words('source title content citations'),
  thinking: words('thinking signature'),
  redacted_thinking: words('data'),
  tool_use: words('id name input caller toolset_name extra_content'),
  tool_result: words('tool_use_id content is_error toolset_name'),
  tool_reference: words('tool_name'),
  browser_state: words('tabs state_changes'),
};
const EVERY_BLOCK = words('type cache_control');
const SOURCE_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  base64: words('type media_type data'),
  text: words('type media_type data'),
  url: words('type url'),
  content: words('type content'),
};

/** The first turn with what no price holds. */
function unpricedInTurns(turns: unknown, param: string): Unpriced | undefined {
  if (!Array.isArray(turns)) return undefined;
  for (const [index, turn] of turns.entries()) {
    const found = isRecord(turn) ? unpricedInBlocks(turn['content'], `${param}[${index}].content`) : undefined;
    if (found) return found;
  }
  return undefined;
}

function unpricedInBlocks(blocks: unknown, param: string): Unpriced | undefined {
  if (!Array.isArray(blocks)) return undefined;
  for (const [index, block] of blocks.entries()) {
    const found = isRecord(block) ? unpricedInBlock(block, `${param}[${index}]`) : undefined;
    if (found) return found;
  }
  return undefined;
}

function unpricedInBlock(block: Json, param: string): Unpriced | undefined {
  const type = String(block['type']);
  const own = Object.hasOwn(BLOCK_MEMBERS, type) ? BLOCK_MEMBERS[type] : undefined;
  if (!own) return { param, what: `blocks of the type "${type.slice(0, 40)}", which tools of the provider make` };
  for (const name in block)
    if (!own.has(name) && !EVERY_BLOCK.has(name) && !isNone(block[name]))
      return { param: `${param}.${name.slice(0, 40)}`, what: `what is no member of a block of the type "${type}"` };
  return unpricedSource(block['source'], `${param}.source`) ?? unpricedInBlocks(block['content'], `${param}.content`);
}

function unpricedSource(source: unknown, param: string): Unpriced | undefined {
  // That of a search result is a text.
  if (!isRecord(source)) return undefined;
  const type = String(source['type']);
  const own = Object.hasOwn(SOURCE_MEMBERS, type) ? SOURCE_MEMBERS[type] : undefined;
  if (!own) return { param, what: 'files that are kept at the provider' };
  const other = Object.keys(source).find((name) => !own.has(name) && !isNone(source[name]));
  if (other !== undefined) return { param: `${param}.${other.slice(0, 40)}`, what: `what is no member of a source of the type "${type}"` };
  return unpricedInBlocks(source['content'], `${param}.content`);
}

/** Tools that Anthropic has described to its models, and the caller runs. */
const OF_CALLER = /^(?:bash|text_editor|computer|memory|computer_toolset|browser_toolset)_\d{8}$/;
const OF_CALLER_MEMBERS = words(
  'type name configs cache_control display_width_px display_height_px display_number enable_zoom max_characters defer_loading allowed_callers input_examples strict',
);

/** Anthropic's tools that it runs itself, by the beginning of their type: behind it is a date. No meter measures them. */
const SERVER_TOOLS = ['web_search', 'web_fetch', 'code_execution', 'tool_search_tool', 'mcp_toolset', 'advisor'];

const MESSAGE_TOOLS = {
  get(type: string): ToolRule | undefined {
    if (type === 'custom') return { runBy: 'caller' };
    return SERVER_TOOLS.some((name) => type.startsWith(name)) ? { runBy: 'provider' } : undefined;
  },
};

function unpricedMessageTool(tools: unknown, param: string): Unpriced | undefined {
  if (!Array.isArray(tools)) return undefined;
  const described = tools.map((tool: unknown) => {
    if (!isRecord(tool)) return tool;
    const isKnown = OF_CALLER.test(String(tool['type'])) && Object.keys(tool).every((name) => OF_CALLER_MEMBERS.has(name));
    return isKnown ? { type: 'custom' } : { ...tool, type: tool['type'] ?? 'custom' };
  });
  return unpricedTool(described, param, MESSAGE_TOOLS);
}

const TIERS: ReadonlySet<unknown> = new Set(['auto', 'standard_only']);

/** What Anthropic takes out of a long conversation costs nothing; what it writes down in place of it is another pass. */
function unpricedContextManagement(value: unknown, param: string): Unpriced | undefined {
  const what = 'context management other than clearing';
  const edits = isRecord(value) ? (value['edits'] ?? []) : undefined;
  if (!isRecord(value) || !Array.isArray(edits) || Object.keys(value).some((name) => name !== 'edits')) return { param, what };
  const other = edits.findIndex((edit) => !isRecord(edit) || !String(edit['type']).startsWith('clear_'));
  return other === -1 ? undefined : { param: `${param}.edits[${other}]`, what };
}

const PROMPT = 'part of the prompt, by its bytes or tokens; images at the most that one can cost';

/** What Anthropic's Messages call by names of their own. */
export const MESSAGE_FIELDS: FieldRules = {
  messages: counted(PROMPT, unpricedInTurns),
  system: counted(PROMPT, unpricedInBlocks),
  tools: counted(PROMPT, unpricedMessageTool),
  max_tokens: counted('the bound on tokens out that is held is also sent'),
  prediction: refused('predicted output'),
  service_tier: refused('service tiers other than auto and standard_only', (tier) => TIERS.has(tier)),
  context_management: { ...refused('context management other than clearing'), unpriced: unpricedContextManagement },
  output_config: counted('the schema is part of the prompt', (value, param) =>
    unpricedMember(value, param, { effort: isAny, format: isAny, task_budget: isAny }),
  ),
  output_format: counted('the schema is part of the prompt'),
  billing_policy: refused('another way of billing'),
  fallback_credit_token: refused('another way of billing'),
  workspace_id: refused('a workspace of the operator’s'),
  thread: refused('conversations that are kept at the provider'),
  compaction: refused('compaction by the provider'),
  betas: refused('betas in the body: send them in the header `anthropic-beta`'),
  ...free('tells of the prompt cache', 'diagnostics'),
  ...free('says whose request it is', 'user_profile_id'),
  ...free('thought counts as tokens out, within their bound', 'thinking'),
  ...free('the tools that it names are', 'tool_choice'),
  ...free('steers which tokens are drawn, not how many', 'temperature', 'top_p', 'top_k', 'stop_sequences'),
  ...free('adds to what is shown, not to what is billed', 'stream'),
  ...free('read by the gateway, not sent', 'model', 'models'),
};
