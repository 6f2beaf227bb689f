import { isRecord } from '../usage.ts';
import type { Unpriced } from './field-rule.ts';

/** Who runs a tool. What the provider runs, it bills by measures of its own. */
export interface ToolRule {
  readonly runBy: 'caller' | 'provider';
  /** By what the provider bills it, beside the tokens of every further pass over the input. */
  readonly billedBy?: string;
  /** Whether a tool of this type is the caller's to run after all: some types say so in a field. */
  readonly isCallers?: (tool: Readonly<Record<string, unknown>>) => boolean;
}

const caller: ToolRule = { runBy: 'caller' };
const provider = (billedBy: string, isCallers?: ToolRule['isCallers']): ToolRule => ({
  runBy: 'provider',
  billedBy,
  ...(isCallers && { isCallers }),
});

const webSearch = provider('calls');
const computer = provider('screenshots at prices of a model of its own');

/** The types of tools in OpenAI's document (Responses, `tools`). */
export const RESPONSE_TOOLS: ReadonlyMap<string, ToolRule> = new Map([
  ['function', caller],
  ['custom', caller],
  ['namespace', caller],
  ['local_shell', caller],
  ['apply_patch', caller],
  // Without `environment`, and in a container, the provider runs it.
  ['shell', provider('containers', ({ environment }) => isRecord(environment) && environment['type'] === 'local')],
  ['tool_search', provider('searches', ({ execution }) => execution === 'client')],
  ['web_search', webSearch],
  ['web_search_2025_08_26', webSearch],
  ['web_search_preview', webSearch],
  ['web_search_preview_2025_03_11', webSearch],
  ['file_search', provider('calls and storage')],
  ['code_interpreter', provider('containers')],
  ['programmatic_tool_calling', provider('containers')],
  ['image_generation', provider('image tokens of a model of its own')],
  ['mcp', provider('calls whose output joins the input')],
  ['computer', computer],
  ['computer_use_preview', computer],
]);

/** The types of tools of OpenAI's chat completions. */
export const CHAT_TOOLS: ReadonlyMap<string, ToolRule> = new Map([
  ['function', caller],
  ['custom', caller],
]);

/** The first tool of a list that the caller does not run; a type that is not known may be any provider's. */
export function unpricedTool(tools: unknown, param: string, rules: ReadonlyMap<string, ToolRule>): Unpriced | undefined {
  if (!Array.isArray(tools)) return undefined;
  for (const [index, tool] of tools.entries()) {
    const found = isRecord(tool) ? unpricedToolAt(tool, `${param}[${index}]`, rules) : undefined;
    if (found) return found;
  }
  return undefined;
}

function unpricedToolAt(tool: Record<string, unknown>, param: string, rules: ReadonlyMap<string, ToolRule>): Unpriced | undefined {
  const type = String(tool['type']);
  const rule = rules.get(type);
  if (!rule) return { param, what: `tools of the type "${type.slice(0, 40)}"` };
  if (rule.runBy === 'provider' && !rule.isCallers?.(tool)) return { param, what: `tools that the provider runs, such as ${type}` };
  // A namespace has tools of its own.
  return unpricedTool(tool['tools'], `${param}.tools`, rules);
}

/** A choice that names a tool of the provider's, by itself or among `allowed_tools`. */
export function unpricedToolChoice(choice: unknown, param: string): Unpriced | undefined {
  if (!isRecord(choice)) return undefined;
  const type = String(choice['type']);
  const rule = RESPONSE_TOOLS.get(type);
  // Of these two the declared tool says who runs it.
  if (rule?.runBy === 'provider' && !rule.isCallers) return { param, what: `tools that the provider runs, such as ${type}` };
  const allowed = isRecord(choice['allowed_tools']) ? choice['allowed_tools']['tools'] : choice['tools'];
  if (!Array.isArray(allowed)) return undefined;
  for (const [index, one] of allowed.entries()) {
    const found = unpricedToolChoice(one, `${param}.tools[${index}]`);
    if (found) return found;
  }
  return undefined;
}
