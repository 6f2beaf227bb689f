import type { ResponseRequest } from '@tallygate/contract';
import { paint } from '../images/picture.ts';
import { png } from '../images/png.ts';
import { isRecord, recordAt } from '../schema/json-schema.ts';
import { countTokens } from '../tokens.ts';

type Tool = NonNullable<ResponseRequest['tools']>[number];

/** An item of a tool that the provider runs, with every member that OpenAI requires. */
export interface HostedItem {
  readonly id: string;
  readonly type: HostedType;
  readonly status?: string;
  readonly [member: string]: unknown;
}

export type HostedType =
  | 'web_search_call'
  | 'file_search_call'
  | 'code_interpreter_call'
  | 'shell_call'
  | 'shell_call_output'
  | 'image_generation_call'
  | 'mcp_list_tools'
  | 'mcp_call';

/** OpenAI's `tool_usage`. */
export interface ToolUsage {
  readonly image_gen: object;
  readonly web_search: { readonly num_requests: number };
}

/** What the provider ran. */
export interface HostedCalls {
  readonly items: readonly HostedItem[];
  /** Of tools; an item more than once is one call. */
  readonly calls: number;
  /** Tokens that they have put into the input. */
  readonly tokens: number;
  readonly toolUsage: ToolUsage;
}

/** What one result of a tool puts into the input. */
const RESULT_TOKENS = 64;
const IMAGE_TOKENS = 272;

/**
 * Runs the hosted tools that `tool_choice` names, or whose type, or server, is in the text; each once, as far as `max_tool_calls` allows.
 * @param text what the user said last
 * @param id an id of a kind, the same for the same request
 */
export async function runHostedTools(
  { tools, tool_choice: choice, max_tool_calls: most }: ResponseRequest,
  text: string,
  id: (kind: string, index: number) => string,
): Promise<HostedCalls> {
  const called = choice === 'none' ? [] : (tools ?? []).filter((tool) => kindOf(tool) !== undefined && isCalled(tool, choice, text));
  const run = called.slice(0, most ?? called.length);
  const made = await Promise.all(run.map((tool, index) => itemsOf(tool, { text, id: (kind) => id(kind, index) })));
  const images = run.filter(({ type }) => type === 'image_generation').length;
  const words = countTokens(text);
  return {
    items: made.flat(),
    calls: run.length,
    tokens: run.length * RESULT_TOKENS,
    toolUsage: {
      image_gen: {
        input_tokens: images * words,
        input_tokens_details: { image_tokens: 0, text_tokens: images * words },
        output_tokens: images * IMAGE_TOKENS,
        output_tokens_details: { image_tokens: images * IMAGE_TOKENS, text_tokens: 0 },
        total_tokens: images * (words + IMAGE_TOKENS),
      },
      web_search: { num_requests: run.filter(({ type }) => type.startsWith('web_search')).length },
    },
  };
}

const KINDS: Readonly<Record<string, string>> = {
  web_search: 'web search',
  web_search_2025_08_26: 'web search',
  web_search_preview: 'web search',
  web_search_preview_2025_03_11: 'web search',
  file_search: 'file search',
  code_interpreter: 'code interpreter',
  image_generation: 'image generation',
  mcp: 'mcp',
  shell: 'shell',
};

/** In words; undefined where the caller runs it. */
function kindOf(tool: Tool): string | undefined {
  if (tool.type === 'shell' && recordAt(tool, 'environment')['type'] === 'local') return undefined;
  return Object.hasOwn(KINDS, tool.type) ? KINDS[tool.type] : undefined;
}

function isCalled(tool: Tool, choice: unknown, text: string): boolean {
  const { server_label: server } = tool as { readonly server_label?: unknown };
  if (isRecord(choice) && choice['type'] !== 'allowed_tools') return choice['type'] === tool.type;
  const said = text.slice(0, 20_000).toLowerCase();
  const names = [tool.type, kindOf(tool), ...(typeof server === 'string' ? [server.toLowerCase()] : [])];
  return choice === 'required' || names.some((name) => name !== undefined && said.includes(name));
}

interface Asked {
  readonly text: string;
  readonly id: (kind: string) => string;
}

async function itemsOf(tool: Tool, { text, id }: Asked): Promise<HostedItem[]> {
  const query = text.slice(0, 100).toWellFormed();
  const status = 'completed';
  switch (kindOf(tool)) {
    case 'web search':
      return [{ id: id('ws'), type: 'web_search_call', status, action: { type: 'search', query, queries: [query] } }];
    case 'file search':
      return [{ id: id('fs'), type: 'file_search_call', status, queries: [query], results: null }];
    case 'code interpreter':
      return [{ id: id('ci'), type: 'code_interpreter_call', status, code: 'print(42)', container_id: id('cntr'), outputs: null }];
    case 'image generation': {
      const image = await png(paint({ seed: text, width: 64, height: 64 }));
      return [{ id: id('ig'), type: 'image_generation_call', status, result: image.toString('base64') }];
    }
    case 'shell':
      return shellItems({ text, id });
    default: {
      const server_label = String(tool['server_label']);
      const called = { name: 'ask', arguments: JSON.stringify({ query }), output: 'The sandbox asked no server.', error: null };
      return [
        { id: id('mcpl'), type: 'mcp_list_tools', server_label, tools: [{ name: 'ask', input_schema: { type: 'object' } }] },
        { id: id('mcp'), type: 'mcp_call', status, server_label, ...called },
      ];
    }
  }
}

function shellItems({ id }: Asked): HostedItem[] {
  const called = { call_id: id('call_sh'), status: 'completed' };
  const environment = { type: 'container_reference', container_id: id('cntr') };
  const result = { stdout: '42\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } };
  return [
    {
      ...{ id: id('sh'), type: 'shell_call' as const, ...called, environment },
      action: { commands: ['echo 42'], max_output_length: null, timeout_ms: null },
    },
    { id: id('sho'), type: 'shell_call_output', ...called, output: [result], max_output_length: null },
  ];
}

/** What is told of a call between its beginning and its end, by its type. */
export const STEPS: Readonly<Record<HostedType, readonly string[]>> = {
  web_search_call: ['in_progress', 'searching', 'completed'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  image_generation_call: ['in_progress', 'generating', 'completed'],
  mcp_list_tools: ['in_progress', 'completed'],
  mcp_call: ['in_progress', 'completed'],
  shell_call: [],
  shell_call_output: [],
};
