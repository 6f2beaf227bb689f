import type { PriceMeter } from '@tallygate/contract';
import { isRecord } from '../usage.ts';
import type { Unpriced } from './field-rule.ts';
import {
  IMAGE_TOOL_METERS,
  unpricedFileSearch,
  unpricedImageTool,
  unpricedInterpreter,
  unpricedMcp,
  unpricedShell,
  unpricedWebSearch,
} from './hosted-tool-rules.ts';

/** Who runs a tool, and by what the provider bills what it runs. */
export interface ToolRule {
  readonly runBy: 'caller' | 'provider';
  /**
   * The meters of what the provider runs, beside the tokens of every further pass over the input; none where it bills those alone. Undefined:
   * no meter measures it.
   */
  readonly meters?: readonly PriceMeter[];
  /** Whether a tool of this type is the caller's to run after all: some types say so in a field. */
  readonly isCallers?: (tool: Tool) => boolean;
  /** What of a tool that the provider runs no price holds. */
  readonly unpriced?: (tool: Tool, param: string) => Unpriced | undefined;
}

type Tool = Readonly<Record<string, unknown>>;
/** By the type of a tool. */
type ToolRules = Pick<ReadonlyMap<string, ToolRule>, 'get'>;

const caller: ToolRule = { runBy: 'caller' };
const unmeasured = (isCallers?: ToolRule['isCallers']): ToolRule => ({ runBy: 'provider', ...(isCallers && { isCallers }) });

/** A skill that the caller has is named, described and at a path of the caller's; any other is fetched by the provider. */
const hasOwnSkills = ({ skills }: Tool): boolean =>
  skills === undefined ||
  skills === null ||
  (Array.isArray(skills) &&
    skills.every(
      (skill) => isRecord(skill) && typeof skill['path'] === 'string' && Object.keys(skill).every((name) => SKILL_MEMBERS.has(name)),
    ));
const SKILL_MEMBERS: ReadonlySet<string> = new Set(['name', 'description', 'path']);

const webSearch: ToolRule = { runBy: 'provider', meters: ['web_searches'], unpriced: unpricedWebSearch };
const webSearchPreview: ToolRule = { runBy: 'provider', meters: ['web_search_previews'], unpriced: unpricedWebSearch };

/** The types of tools in OpenAI's document (Responses, `tools`): the one table that says who runs them. */
export const RESPONSE_TOOLS: ReadonlyMap<string, ToolRule> = new Map<string, ToolRule>([
  ['function', caller],
  ['custom', caller],
  ['namespace', caller],
  ['local_shell', caller],
  ['apply_patch', caller],
  // The caller clicks and sends screenshots, which are images of the input.
  ['computer', caller],
  ['computer_use_preview', caller],
  // Without `environment`, and in a container, the provider runs it.
  [
    'shell',
    {
      runBy: 'provider',
      meters: ['container_gigabytes'],
      isCallers: ({ environment }) => isRecord(environment) && environment['type'] === 'local' && hasOwnSkills(environment),
      unpriced: unpricedShell,
    },
  ],
  ['tool_search', unmeasured(({ execution }) => execution === 'client')],
  ['web_search', webSearch],
  ['web_search_2025_08_26', webSearch],
  ['web_search_preview', webSearchPreview],
  ['web_search_preview_2025_03_11', webSearchPreview],
  ['file_search', { runBy: 'provider', meters: ['file_searches'], unpriced: unpricedFileSearch }],
  ['code_interpreter', { runBy: 'provider', meters: ['container_gigabytes'], unpriced: unpricedInterpreter }],
  ['programmatic_tool_calling', unmeasured()],
  ['image_generation', { runBy: 'provider', meters: IMAGE_TOOL_METERS, unpriced: unpricedImageTool }],
  ['mcp', { runBy: 'provider', meters: [], unpriced: unpricedMcp }],
]);

/** The types of tools of OpenAI's chat completions. */
export const CHAT_TOOLS: ReadonlyMap<string, ToolRule> = new Map([
  ['function', caller],
  ['custom', caller],
]);

/** The types of tools of a realtime session. */
export const REALTIME_TOOLS: ReadonlyMap<string, ToolRule> = new Map([
  ['function', caller],
  ['mcp', unmeasured()],
]);

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/**
 * The members of a tool that the caller runs: OpenAI's of every such type, and what other SDKs write beside them (Anthropic's `cache_control`,
 * `input_schema`, `input_examples`, `eager_input_streaming`). Any other may have the provider run something beside the function.
 */
const TOOL_MEMBERS = words(
  'type name description parameters strict format function custom tools environment execution async defer_loading allowed_callers ' +
    'display_width display_height output_schema cache_control input_schema input_examples eager_input_streaming',
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

/** Where tools are declared: what the provider runs is held where the request declares it, and nowhere else. */
type Place = 'request' | 'inside';

/** The first tool of a list that no price holds; a type that is not known may be any provider's. */
export function unpricedTool(tools: unknown, param: string, rules: ToolRules, place: Place = 'inside'): Unpriced | undefined {
  if (!Array.isArray(tools)) return undefined;
  for (const [index, tool] of tools.entries()) {
    const found = isRecord(tool) ? unpricedToolAt(tool, `${param}[${index}]`, rules, place) : undefined;
    if (found) return found;
  }
  return undefined;
}

function unpricedToolAt(tool: Tool, param: string, rules: ToolRules, place: Place): Unpriced | undefined {
  const type = String(tool['type']);
  const rule = rules.get(type);
  if (!rule) return { param, what: `tools of the type "${type.slice(0, 40)}"` };
  if (rule.runBy === 'provider' && !rule.isCallers?.(tool)) {
    if (!rule.meters) return { param, what: `tools that the provider runs and no meter measures, such as ${type}` };
    if (place === 'inside')
      return { param, what: `tools that the provider runs and that are not in \`tools\` of the request, such as ${type}` };
    return rule.unpriced?.(tool, param);
  }
  return (
    unpricedFunction(tool, param, TOOL_MEMBERS) ??
    unpricedFunction(tool['function'], `${param}.function`) ??
    unpricedFunction(tool['custom'], `${param}.custom`) ??
    // A namespace has tools of its own.
    unpricedTool(tool['tools'], `${param}.tools`, rules)
  );
}

/** A choice that names a tool which no meter measures, by itself or among `allowed_tools`. */
export function unpricedToolChoice(choice: unknown, param: string): Unpriced | undefined {
  if (!isRecord(choice)) return undefined;
  const type = String(choice['type']);
  const rule = RESPONSE_TOOLS.get(type);
  // The declared tool says what there is of it, and of some who runs it.
  if (rule?.runBy === 'provider' && !rule.isCallers && !rule.meters)
    return { param, what: `tools that the provider runs and no meter measures, such as ${type}` };
  const allowed = isRecord(choice['allowed_tools']) ? choice['allowed_tools']['tools'] : choice['tools'];
  if (!Array.isArray(allowed)) return undefined;
  for (const [index, one] of allowed.entries()) {
    const found = unpricedToolChoice(one, `${param}.tools[${index}]`);
    if (found) return found;
  }
  return undefined;
}
