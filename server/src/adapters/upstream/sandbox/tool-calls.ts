import type { ChatCompletionRequest } from '@tallygate/contract';
import { type Rejection, rejection } from './rejection.ts';
import { isRecord, recordAt } from './schema/json-schema.ts';
import { sampleSchema } from './schema/sample.ts';

export interface FunctionCall {
  readonly name: string;
  /** JSON that is valid against the function's parameters. */
  readonly arguments: string;
}

interface FunctionTool {
  readonly name: string;
  readonly parameters: unknown;
  /** Where in the request the parameters stand, for the one who has to mend them. */
  readonly param: string;
}

const MOST_CALLS = 16;
const LONGEST_SEARCH = 20_000;
/** Shared by its calls, so that many of them do not take longer than one. */
const STEPS_OF_A_REQUEST = 40_000;

/**
 * The functions to call, with arguments: the one that `tool_choice` names, else those whose names stand in the text, else the
 * first. None where there are none, where `tool_choice` says so, or where the conversation ends with a tool's result.
 * @param text what the user said last
 */
export function callFunctions(request: ChatCompletionRequest, text: string): FunctionCall[] | Rejection {
  const tools = functionsOf(request);
  const choice = readToolChoice(request, tools);
  if ('ok' in choice) return choice;
  const role = request.messages.at(-1)?.role;
  if (choice.among.length === 0 || role === 'tool' || role === 'function') return [];
  const mentioned = choice.among.filter(({ name }) => mentions(text.slice(0, LONGEST_SEARCH), name));
  const called = mentioned.length > 0 ? mentioned : choice.among.slice(0, 1);
  const atOnce = called.slice(0, request.parallel_tool_calls === false ? 1 : MOST_CALLS);
  const calls: FunctionCall[] = [];
  for (const tool of atOnce) {
    const sample = sampleSchema(
      { type: 'object', ...(isRecord(tool.parameters) ? tool.parameters : { properties: {} }) },
      STEPS_OF_A_REQUEST / atOnce.length,
    );
    if (!sample.ok) {
      const message = `Invalid parameters of the function "${tool.name}" for the sandbox: ${sample.reason}.`;
      return rejection(message, { param: tool.param, code: 'invalid_function_parameters' });
    }
    calls.push({ name: tool.name, arguments: JSON.stringify(sample.value) });
  }
  return calls;
}

const functionsOf = ({ tools = [] }: ChatCompletionRequest): FunctionTool[] =>
  tools.flatMap((tool, index) =>
    tool.function ? [{ name: tool.function.name, parameters: tool.function.parameters, param: `tools[${index}].function.parameters` }] : [],
  );

/** The functions that may be called. */
function readToolChoice({ tool_choice: choice }: ChatCompletionRequest, tools: FunctionTool[]): { among: FunctionTool[] } | Rejection {
  const reject = (message: string) => rejection(message, { param: 'tool_choice', code: 'invalid_value' });
  if (choice === undefined || choice === null || choice === 'auto') return { among: tools };
  if (choice === 'none') return { among: [] };
  if (choice === 'required')
    return tools.length > 0 ? { among: tools } : reject('`tool_choice` is "required", but `tools` has no function.');
  if (!isRecord(choice)) return reject('Invalid `tool_choice`: expected "none", "auto", "required" or a named function.');
  const { tools: allowed } = recordAt(choice, 'allowed_tools');
  const names = Array.isArray(allowed) ? allowed.map(nameOf) : [nameOf(choice)];
  const among = tools.filter(({ name }) => names.includes(name));
  return among.length > 0 ? { among } : reject('`tool_choice` names a function that is not among `tools`.');
}

const nameOf = (named: unknown): unknown => (isRecord(named) ? (recordAt(named, 'function')['name'] ?? named['name']) : undefined);

/** Whether the name stands in the text as a word: `add` is not in `address`. */
function mentions(text: string, name: string): boolean {
  const isPartOfName = (character: string | undefined) => character !== undefined && /[\w-]/.test(character);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!isPartOfName(text[at - 1]) && !isPartOfName(text[at + name.length])) return true;
  }
  return false;
}
