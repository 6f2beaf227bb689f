import type { ChatCompletionRequest } from '@tallygate/contract';
import { Untranslatable } from '../fault.ts';
import { isRecord, type Json, recordsIn, textIn } from '../json-value.ts';
import type { FunctionCallingConfig, FunctionDeclaration, GenerateContentRequest } from './gemini-api.ts';

type Tool = NonNullable<ChatCompletionRequest['tools']>[number];

/** Functions and how they may be called. `strict` has no counterpart: Google's models keep to the schema as well as they can. */
export function toolsOf({ tools, tool_choice }: ChatCompletionRequest): Pick<GenerateContentRequest, 'tools' | 'toolConfig'> {
  if (!tools || tools.length === 0) return {};
  const functionCallingConfig = callingConfig(tool_choice);
  return {
    tools: [{ functionDeclarations: tools.map(declarationOf) }],
    ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }),
  };
}

function declarationOf({ type, function: declared }: Tool, index: number): FunctionDeclaration {
  if (type !== 'function' || !declared)
    throw new Untranslatable(`tools[${index}]`, `This model calls functions only, not tools of type ${type}.`);
  const { name, description, parameters } = declared;
  // Google takes no parameters that are not an object's; a function without any says so by leaving them out.
  const hasParameters = parameters && Object.keys(parameters).length > 0;
  return {
    name,
    ...(typeof description === 'string' && { description }),
    ...(hasParameters && { parametersJsonSchema: { type: 'object', ...parameters } }),
  };
}

/** `none`, `auto`, `required`, a named function, or `allowed_tools` with a mode of its own. */
function callingConfig(choice: unknown): FunctionCallingConfig | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto') return { mode: 'AUTO' };
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'required') return { mode: 'ANY' };
  const named = isRecord(choice) ? nameIn(choice) : undefined;
  if (named !== undefined) return { mode: 'ANY', allowedFunctionNames: [named] };
  const allowed = isRecord(choice) && choice['type'] === 'allowed_tools' ? choice['allowed_tools'] : undefined;
  if (!isRecord(allowed)) throw new Untranslatable('tool_choice', 'Expected `none`, `auto`, `required`, a function or `allowed_tools`.');
  const allowedFunctionNames = recordsIn(allowed['tools']).flatMap((tool) => nameIn(tool) ?? []);
  return { mode: allowed['mode'] === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames };
}

const nameIn = ({ function: named, name }: Json): string | undefined => (isRecord(named) ? textIn(named['name']) : textIn(name));
