import type { ChatCompletionRequest } from '@tallygate/contract';
import { inTurns } from '../../../kernel/turn.ts';
import { type Rejection, rejection } from './rejection.ts';
import { isRecord, recordAt } from './schema/json-schema.ts';
import { sampling } from './schema/sample.ts';

export interface ToolCall {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  /** Of a function: JSON that is valid against its parameters. Of a custom tool: its input, any text. */
  readonly arguments: string;
}

interface CallableTool {
  readonly kind: ToolCall['kind'];
  readonly name: string;
  /** JSON Schema of the arguments; of a custom tool with a regular expression, that of a text which matches it. */
  readonly schema: object;
  /** Where in the request the schema comes from, for the one who has to mend it. */
  readonly param: string;
}

const MOST_CALLS = 16;
const LONGEST_SEARCH = 20_000;

/**
 * The functions and custom tools to call, with arguments: the one that `tool_choice` names, else those whose names are in the text, else the
 * first. None where there are none, where `tool_choice` says so, or where the conversation ends with a tool's result.
 * @param text what the user said last
 */
export async function callTools(request: ChatCompletionRequest, text: string): Promise<ToolCall[] | Rejection> {
  const tools = callable(request);
  const choice = readToolChoice(request, tools);
  if ('ok' in choice) return choice;
  const role = request.messages.at(-1)?.role;
  if (choice.among.length === 0 || role === 'tool' || role === 'function') return [];
  const mentioned = choice.among.filter(({ name }) => mentions(text.slice(0, LONGEST_SEARCH), name));
  const called = mentioned.length > 0 ? mentioned : choice.among.slice(0, 1);
  const atOnce = called.slice(0, request.parallel_tool_calls === false ? 1 : MOST_CALLS);
  const calls: ToolCall[] = [];
  for (const { kind, name, schema, param } of atOnce) {
    const sample = await inTurns(sampling(schema, atOnce.length));
    if (!sample.ok) {
      const message = `Invalid parameters of the function "${name}" for the sandbox: ${sample.reason}.`;
      return rejection(message, { param, code: 'invalid_function_parameters' });
    }
    calls.push({ kind, name, arguments: kind === 'custom' ? String(sample.value) : JSON.stringify(sample.value) });
  }
  return calls;
}

const callable = ({ tools }: ChatCompletionRequest): CallableTool[] =>
  (tools ?? []).flatMap((tool, index): CallableTool[] => {
    if (tool.function) {
      const { name, parameters } = tool.function;
      const schema = { type: 'object', ...(isRecord(parameters) ? parameters : { properties: {} }) };
      return [{ kind: 'function', name, schema, param: `tools[${index}].function.parameters` }];
    }
    const custom = recordAt(tool, 'custom');
    const { name } = custom;
    return typeof name === 'string' ? [{ kind: 'custom', name, schema: textFor(custom), param: `tools[${index}].custom.format` }] : [];
  });

/** A custom tool takes any text, or one that matches a regular expression; a Lark grammar is not followed. */
function textFor(custom: Readonly<Record<string, unknown>>): object {
  const { syntax, definition } = recordAt(recordAt(custom, 'format'), 'grammar');
  if (syntax === 'regex' && typeof definition === 'string') return { type: 'string', pattern: `^(?:${definition})$` };
  return { const: `A call of ${String(custom['name'])} from the sandbox.` };
}

/** The tools that may be called. */
function readToolChoice(
  { tool_choice: choice, tools }: ChatCompletionRequest,
  callables: CallableTool[],
): { among: CallableTool[] } | Rejection {
  const reject = (message: string) => rejection(message, { param: 'tool_choice', code: 'invalid_value' });
  if (choice === undefined || choice === null || choice === 'auto') return { among: callables };
  if (choice === 'none') return { among: [] };
  if (choice === 'required')
    return tools && tools.length > 0 ? { among: callables } : reject('`tool_choice` is "required", but `tools` is empty.');
  if (!isRecord(choice)) return reject('Invalid `tool_choice`: expected "none", "auto", "required" or a named function.');
  const { tools: allowed } = recordAt(choice, 'allowed_tools');
  const names = Array.isArray(allowed) ? allowed.map(nameOf) : [nameOf(choice)];
  const among = callables.filter(({ name }) => names.includes(name));
  return among.length > 0 ? { among } : reject('`tool_choice` names a function that is not among `tools`.');
}

const nameOf = (named: unknown): unknown =>
  isRecord(named) ? (recordAt(named, 'function')['name'] ?? recordAt(named, 'custom')['name'] ?? named['name']) : undefined;

/** Whether the name is in the text as a word: `add` is not in `address`. */
function mentions(text: string, name: string): boolean {
  const isPartOfName = (character: string | undefined) => character !== undefined && /[\w-]/.test(character);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!isPartOfName(text[at - 1]) && !isPartOfName(text[at + name.length])) return true;
  }
  return false;
}
