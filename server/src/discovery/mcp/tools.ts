import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Operation, Schema, Surface } from '../surface.ts';
import { outputSchemaOf } from './answer-outline.ts';
import { pieceAnswer, pieceInput, pieceOutput, pieceRequest, uploadInput, uploadRequest } from './file-tools.ts';
import type { CallGateway, GatewayAnswer, GatewayRequest } from './gateway-call.ts';
import type { LargeParts } from './large-parts.ts';
import { type Arguments, requestOf, UnusableArguments } from './tool-request.ts';
import { answerIn, toolError, toolResult } from './tool-result.ts';
import { inputSchemaOf } from './tool-schemas.ts';

/** A tool: an operation of the contract as clients of MCP call it. */
export interface Tool {
  readonly operation: Operation;
  readonly description: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly inputSchema: { readonly type: 'object' } & Schema;
    readonly outputSchema: { readonly type: 'object' } & Schema;
    readonly annotations: {
      readonly readOnlyHint?: boolean;
      readonly destructiveHint?: boolean;
      readonly idempotentHint?: boolean;
      readonly openWorldHint?: boolean;
    };
  };
  /** Refusals of the API come back as results, like everything that a caller can do something about. */
  call(given: Arguments, context: CallContext): Promise<CallToolResult>;
}

/** On whose behalf a tool is called. */
export interface CallContext {
  readonly gateway: CallGateway;
  readonly signal: AbortSignal;
  readonly parts: LargeParts;
}

/** How an operation is put into arguments and out of its answer, where that does not follow from its schemas. */
interface Translation {
  readonly input: Schema;
  readonly request: (given: Arguments) => GatewayRequest | Promise<GatewayRequest>;
  readonly answer?: { readonly schema: Schema; readonly of: (answered: GatewayAnswer) => unknown };
}

const TRANSLATED: Readonly<Record<string, Translation>> = {
  createFile: { input: uploadInput, request: uploadRequest },
  downloadFile: { input: pieceInput, request: pieceRequest, answer: { schema: pieceOutput, of: pieceAnswer } },
};

/** Every tool, by its name: the operations that the contract says are tools. */
export function toolsOf({ operations, schemas }: Surface): ReadonlyMap<string, Tool> {
  const offered = operations.filter(({ tool }) => tool !== undefined);
  const tools = offered.map((operation) => {
    const translation = TRANSLATED[operation.id];
    const { summary: title } = operation;
    const description: Tool['description'] = {
      name: toolName(operation.id),
      title,
      description: descriptionOf(operation),
      inputSchema: { type: 'object', ...(translation?.input ?? inputSchemaOf(operation, schemas)) },
      outputSchema: { type: 'object', ...outputSchemaOf(operation, schemas, operation.tool === 'spend', translation?.answer?.schema) },
      annotations: hintsOf(operation),
    };
    return { operation, description, call: callOf(operation, translation) };
  });
  return new Map(tools.map((tool) => [tool.description.name, tool]));
}

/** The defaults of MCP: not read-only, destructive, not idempotent. */
function hintsOf({ method, tool }: Operation): Tool['description']['annotations'] {
  const openWorld = { openWorldHint: tool === 'spend' };
  if (tool === 'read') return { readOnlyHint: true, ...openWorld };
  if (tool === 'destroy') return { idempotentHint: true, ...openWorld };
  return { destructiveHint: false, ...(['PATCH', 'DELETE'].includes(method) && { idempotentHint: true }), ...openWorld };
}

/** `createChatCompletion` → `create_chat_completion`. */
const toolName = (operationId: string): string => operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function descriptionOf({ summary, description, scope, tool }: Operation): string {
  return [
    `${summary}. ${description}`,
    ...(tool === 'spend' ? ['Spends money: the answer says what it cost.'] : []),
    ...(scope === undefined ? [] : [`Scope: ${scope}.`]),
  ].join(' ');
}

function callOf(operation: Operation, translation: Translation | undefined): Tool['call'] {
  const toRequest = translation?.request ?? ((given: Arguments) => requestOf(operation, given));
  return async (given, { gateway, signal, parts }) => {
    let request: GatewayRequest;
    try {
      request = await toRequest(given);
    } catch (error) {
      if (error instanceof UnusableArguments) return toolError(`validation_failed (422): ${error.message}`);
      throw error;
    }
    const answered = await gateway(request, signal);
    const isTranslated = answered.status < 400 && translation?.answer;
    return toolResult(answered, isTranslated ? isTranslated.of(answered) : await answerIn(answered), parts);
  };
}
