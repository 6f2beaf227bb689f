import { readArguments } from '../../../kernel/tool-arguments.ts';
import { betasIn } from '../anthropic/betas.ts';
import { argumentsIn } from '../anthropic/conversation.ts';
import { nativeRequest } from '../anthropic/native-request.ts';
import { refusalWords } from '../anthropic/refusal-words.ts';
import { messagesRequest } from '../anthropic/request.ts';
import type { Words } from '../fault.ts';
import { googleWords } from '../google/error-words.ts';
import { isRecord, jsonIn } from '../json-value.ts';
import type { ChatCall, UpstreamCall, UpstreamCallOf } from '../port.ts';

/** https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai */
const VERSION = 'vertex-2023-10-16';

/** The betas that Vertex knows; it answers 400 to any other, and clients of Anthropic send several with every request. */
const KNOWN_BETAS = new Set([
  ...['computer-use-2024-10-22', 'computer-use-2025-01-24', 'computer-use-2025-11-24', 'token-efficient-tools-2025-02-19'],
  ...['interleaved-thinking-2025-05-14', 'output-128k-2025-02-19', 'context-1m-2025-08-07', 'context-management-2025-06-27'],
  ...['fine-grained-tool-streaming-2025-05-14', 'web-search-2025-03-05', 'tool-search-tool-2025-10-19', 'tool-examples-2025-10-29'],
  ...['effort-2025-11-24', 'compact-2026-01-12'],
]);

export const isClaude = (model: string): boolean => /(?:^|\/)claude-/.test(model);

export const methodOf = ({ stream }: UpstreamCall): string => (stream ? 'streamRawPredict' : 'rawPredict');

export const messagesBody = (call: UpstreamCallOf<'/v1/messages'>): object => onVertex(nativeRequest(call));

export const chatBody = async (call: ChatCall): Promise<object> =>
  onVertex(messagesRequest(call, await readArguments(argumentsIn(call.request.messages))));

/** The model is in the path. */
function onVertex(request: object): object {
  const { model: _, ...rest }: { model?: unknown } = request;
  return { anthropic_version: VERSION, ...rest };
}

export function headersOf({ stream, betas }: UpstreamCall): string[] {
  const known = betasIn(betas).filter((beta) => KNOWN_BETAS.has(beta));
  return [
    ...['content-type', 'application/json', 'accept', stream ? 'text/event-stream, application/json' : 'application/json'],
    ...(known.length === 0 ? [] : ['anthropic-beta', known.join(',')]),
  ];
}

/** A model of Anthropic's may be refused by Google, and by Anthropic. */
export function vertexWords(text: string): Words {
  const body = jsonIn(text);
  return isRecord(body) && body['type'] === 'error' ? refusalWords(text) : googleWords(text);
}
