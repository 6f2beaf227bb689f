import type { ChatCompletionRequest } from '@tallygate/contract';
import { Untranslatable } from '../fault.ts';
import { isRecord, recordsIn, textIn } from '../json-value.ts';
import { cacheControlIn } from './content.ts';
import type { Tool, ToolChoice, Turn } from './messages-api.ts';

export interface ToolUse {
  readonly tools?: readonly Tool[];
  readonly tool_choice?: ToolChoice;
}

/**
 * `strict` is not passed on: the schemas that Anthropic can compile, and how many of them, are fewer than OpenAI's, and a call that breaks its
 * schema now and then does less harm than a request that is refused every time.
 */
export function toolUseOf(request: ChatCompletionRequest, turns: readonly Turn[]): ToolUse {
  const offered = (request.tools ?? []).map(toolOf);
  const { choice, allowed } = choiceOf(request.tool_choice);
  const tools = allowed ? offered.filter(({ name }) => allowed.has(name)) : offered;
  if (tools.length === 0) return pastTools(turns);
  return {
    tools,
    tool_choice: request.parallel_tool_calls === false && choice.type !== 'none' ? { ...choice, disable_parallel_tool_use: true } : choice,
  };
}

function toolOf(tool: NonNullable<ChatCompletionRequest['tools']>[number]): Tool {
  const { type, function: declared } = tool;
  if (type !== 'function' || !declared) throw new Untranslatable('tools', `This model calls functions only, not tools of type ${type}.`);
  return {
    name: declared.name,
    ...(typeof declared.description === 'string' && { description: declared.description }),
    input_schema: { type: 'object', ...(declared.parameters ?? { properties: {} }) },
    ...cacheControlIn(declared),
    ...cacheControlIn(tool),
  };
}

interface Choice {
  readonly choice: ToolChoice;
  /** Names of the only tools that may be called. */
  readonly allowed?: ReadonlySet<string>;
}

/** `none`, `auto`, `required`, a named function, or `allowed_tools` with a mode of its own. */
function choiceOf(choice: unknown): Choice {
  if (choice === undefined || choice === null || choice === 'auto') return { choice: { type: 'auto' } };
  if (choice === 'none') return { choice: { type: 'none' } };
  if (choice === 'required') return { choice: { type: 'any' } };
  const named = isRecord(choice) ? nameIn(choice) : undefined;
  if (named !== undefined) return { choice: { type: 'tool', name: named } };
  const allowed = isRecord(choice) && choice['type'] === 'allowed_tools' ? choice['allowed_tools'] : undefined;
  if (!isRecord(allowed)) throw new Untranslatable('tool_choice', 'Expected `none`, `auto`, `required`, a function or `allowed_tools`.');
  const names = recordsIn(allowed['tools']).flatMap((tool) => nameIn(tool) ?? []);
  return { choice: { type: allowed['mode'] === 'required' ? 'any' : 'auto' }, allowed: new Set(names) };
}

const nameIn = ({ function: named }: { readonly [member: string]: unknown }): string | undefined =>
  isRecord(named) ? textIn(named['name']) : undefined;

/** A conversation with calls in it needs their tools declared, though none may be called any more. */
function pastTools(turns: readonly Turn[]): ToolUse {
  const names = new Set(turns.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool_use' ? block.name : []))));
  if (names.size === 0) return {};
  return { tools: [...names].map((name) => ({ name, input_schema: { type: 'object' } })), tool_choice: { type: 'none' } };
}
