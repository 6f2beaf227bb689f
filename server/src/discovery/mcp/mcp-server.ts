import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { Log } from '../../kernel/log.ts';
import type { CallGateway } from './gateway-call.ts';
import type { LargeParts } from './large-parts.ts';
import { listPrompts, promptOf } from './prompts.ts';
import type { Resources } from './resources.ts';
import { toolError } from './tool-result.ts';
import type { Tool } from './tools.ts';

/** What every caller is offered. */
export interface Offer {
  readonly version: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly resources: Resources;
}

/** One caller of the MCP server. */
export interface McpCaller {
  readonly gateway: CallGateway;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Of the answer, for the one who sends it. */
  readonly parts: LargeParts;
  /** Whether a tool is worth showing to them; what they may do is decided when they do it. */
  isOffered(tool: Tool): boolean;
}

const INSTRUCTIONS =
  'An AI gateway that holds money before a model runs. Tools are operations of its API, under the budgets of the API key that is used. ' +
  'Answers are under `answer`, beside `request_id` and what was spent: `cost_usd`, `receipt_id`. `*_usd` are decimal USD. Schemas of answers are outlines: /openapi.json has all. Read tallygate://agents first. ' +
  'For several steps of one task give each `agent_run_id` and, with the first, `agent_max_budget` (USD): a hard ceiling. ' +
  'An error names a code: budget_exceeded is not cured by repeating.';

/** Lists are the same until a release or another key. */
const LIST_TTL_MS = 300_000;
const HINT = { ttlMs: LIST_TTL_MS, cacheScope: 'private' } as const;
const LISTS = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list', 'server/discover'];

/** The server for one request: no state is stored between requests, so any instance can answer the next. */
export function createMcpServer({ version, tools, resources }: Offer, { gateway, signal, parts, isOffered }: McpCaller, log: Log): Server {
  const server = new Server(
    { name: 'tallygate', title: 'Tallygate', version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: INSTRUCTIONS,
      cacheHints: Object.fromEntries(LISTS.map((method) => [method, HINT])),
    },
  );
  server.setRequestHandler('tools/list', async () => ({
    tools: [...tools.values()]
      .filter(isOffered)
      .map(({ description }) => ({ ...description, annotations: { ...description.annotations } })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = tools.get(params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${params.name.slice(0, 100)}".`);
    try {
      return await tool.call(params.arguments ?? {}, { gateway, signal: AbortSignal.any([signal, mcpReq.signal]), parts });
    } catch (error) {
      if (signal.aborted || mcpReq.signal.aborted) return toolError('The call was given up.');
      // The message of an error would be shown to the caller.
      log.error({ err: error, tool: params.name }, 'a tool failed');
      return toolError('internal_error (500): Something went wrong on our side: repeat the call.');
    }
  });
  server.setRequestHandler('resources/list', async () => ({ resources: resources.list() }));
  server.setRequestHandler('resources/templates/list', async () => ({ resourceTemplates: resources.templates() }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq }) => ({
    contents: [await resources.read(uri, gateway, AbortSignal.any([signal, mcpReq.signal])).catch(hidden(log))],
  }));
  server.setRequestHandler('prompts/list', async () => ({ prompts: listPrompts() }));
  server.setRequestHandler('prompts/get', async ({ params: { name, arguments: given = {} } }) => promptOf(name, given));
  return server;
}

const hidden =
  (log: Log) =>
  (error: unknown): never => {
    if (error instanceof ProtocolError) throw error;
    log.error({ err: error }, 'a resource could not be read');
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'Something went wrong on our side: repeat the call.');
  };
