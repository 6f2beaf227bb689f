import type { ChatCompletionRequest } from '@tallygate/contract';
import { Untranslatable } from '../fault.ts';
import { isRecord, type Json, recordsIn, textIn } from '../json-value.ts';
import type { CohereChatRequest, CohereTool } from './chat-api.ts';

/**
 * Functions, and how they may be called. Cohere cannot be told which one: where it must be a certain one, it is offered no other. `strict` of a
 * function is not passed on, since Cohere compiles fewer schemas than OpenAI.
 */
export function toolsOf({ tools, tool_choice: choice }: ChatCompletionRequest): Pick<CohereChatRequest, 'tools' | 'tool_choice'> {
  if (!tools || tools.length === 0) return {};
  const { names, must } = choiceOf(choice);
  const offered = tools.map(toolOf).filter(({ function: { name } }) => !names || names.includes(name));
  if (offered.length === 0) return {};
  return { tools: offered, ...(must && { tool_choice: must }) };
}

function toolOf({ type, function: declared }: NonNullable<ChatCompletionRequest['tools']>[number], index: number): CohereTool {
  if (type !== 'function' || !declared)
    throw new Untranslatable(`tools[${index}]`, `This model calls functions only, not tools of type ${type}.`);
  const { name, description, parameters } = declared;
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' && { description }),
      parameters: { type: 'object', properties: {}, ...parameters },
    },
  };
}

interface Choice {
  /** The only ones that may be called; undefined: all. */
  readonly names?: readonly string[];
  readonly must?: CohereChatRequest['tool_choice'];
}

/** `none`, `auto`, `required`, a named function, or `allowed_tools` with a mode of its own. */
function choiceOf(choice: unknown): Choice {
  if (choice === undefined || choice === null || choice === 'auto') return {};
  if (choice === 'none') return { must: 'NONE' };
  if (choice === 'required') return { must: 'REQUIRED' };
  const named = isRecord(choice) ? nameIn(choice) : undefined;
  if (named !== undefined) return { names: [named], must: 'REQUIRED' };
  const allowed = isRecord(choice) && choice['type'] === 'allowed_tools' ? choice['allowed_tools'] : undefined;
  if (!isRecord(allowed)) throw new Untranslatable('tool_choice', 'Expected `none`, `auto`, `required`, a function or `allowed_tools`.');
  const names = recordsIn(allowed['tools']).flatMap((tool) => nameIn(tool) ?? []);
  return { names, ...(allowed['mode'] === 'required' && { must: 'REQUIRED' }) };
}

const nameIn = ({ function: named, name }: Json): string | undefined => (isRecord(named) ? textIn(named['name']) : textIn(name));
