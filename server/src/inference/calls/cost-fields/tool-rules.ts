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

/** A skill that the caller has is named, described and at a path of the caller's; any other is fetched by the provider. */
const hasOwnSkills = ({ skills }: Readonly<Record<string, unknown>>): boolean =>
  skills === undefined ||
  skills === null ||
  (Array.isArray(skills) &&
    skills.every(
      (skill) => isRecord(skill) && typeof skill['path'] === 'string' && Object.keys(skill).every((name) => SKILL_MEMBERS.has(name)),
    ));
const SKILL_MEMBERS: ReadonlySet<string> = new Set(['name', 'description', 'path']);

const webSearch = provider('calls');
const computer = provider('screenshots at the prices of another model');

/** The types of tools in OpenAI's document (Responses, `tools`). */
export const RESPONSE_TOOLS: ReadonlyMap<string, ToolRule> = new Map([
  ['function', caller],
  ['custom', caller],
  ['namespace', caller],
  ['local_shell', caller],
  ['apply_patch', caller],
  // Without `environment`, and in a container, the provider runs it.
  [
    'shell',
    provider('containers', ({ environment }) => isRecord(environment) && environment['type'] === 'local' && hasOwnSkills(environment)),
  ],
  ['tool_search', provider('searches', ({ execution }) => execution === 'client')],
  ['web_search', webSearch],
  ['web_search_2025_08_26', webSearch],
  ['web_search_preview', webSearch],
  ['web_search_preview_2025_03_11', webSearch],
  ['file_search', provider('calls and storage')],
  ['code_interpreter', provider('containers')],
  ['programmatic_tool_calling', provider('containers')],
  ['image_generation', provider('image tokens of another model')],
  ['mcp', provider('calls whose output joins the input')],
  ['computer', computer],
  ['computer_use_preview', computer],
]);

/** The types of tools of OpenAI's chat completions. */
export const CHAT_TOOLS: ReadonlyMap<string, ToolRule> = new Map([
  ['function', caller],
  ['custom', caller],
]);

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/**
 * The members of a tool that the caller runs: OpenAI's of every such type, and what other SDKs write beside them (Anthropic's `cache_control`,
 * `input_schema`, `input_examples`, `eager_input_streaming`). Any other may have the provider run something beside the function.
 */
const TOOL_MEMBERS = words(
  'type name description parameters strict format function custom tools environment execution async defer_loading allowed_callers ' +
    'output_schema cache_control input_schema input_examples eager_input_streaming',
);
/** Of its `function` or `custom`: also what describes the result (Gemini, Hugging Face, xAI), and what belongs into `parameters`. */
const CALLED_MEMBERS = words(
  'name description parameters strict format async defer_loading allowed_callers output_schema cache_control input_schema input_examples ' +
    'response return returns title required additionalProperties annotations examples',
);

/** What a description of a function has that no price holds. Moonshot runs functions whose names begin with a dollar sign. */
function unpricedFunction(described: unknown, param: string, members = CALLED_MEMBERS): Unpriced | undefined {
  if (!isRecord(described)) return undefined;
  const { name } = described;
  if (typeof name === 'string' && /^\s*\$/.test(name))
    return { param: `${param}.name`, what: `functions of the provider, such as "${name.slice(0, 40)}"` };
  for (const member in described) {
    const value = described[member];
    if (value === null || value === undefined || members.has(member)) continue;
    return { param: `${param}.${member.slice(0, 40)}`, what: 'members of a tool that only some providers read' };
  }
  return undefined;
}

/** The first of the functions of an older request that no price holds. */
export function unpricedFunctions(functions: unknown, param: string): Unpriced | undefined {
  if (!Array.isArray(functions)) return undefined;
  for (const [index, one] of functions.entries()) {
    const found = unpricedFunction(one, `${param}[${index}]`);
    if (found) return found;
  }
  return undefined;
}

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
  return (
    unpricedFunction(tool, param, TOOL_MEMBERS) ??
    unpricedFunction(tool['function'], `${param}.function`) ??
    unpricedFunction(tool['custom'], `${param}.custom`) ??
    // A namespace has tools of its own.
    unpricedTool(tool['tools'], `${param}.tools`, rules)
  );
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
