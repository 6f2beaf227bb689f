import type { ChatCompletionRequest, CompletionRequest } from '@tallygate/contract';
import type { AnswerForm, PlainAnswer, ShownCost, StreamError, StreamFilter } from './answer-form.ts';
import { CompletionAssembly } from './chats/completion-assembly.ts';
import { jsonObjectOf } from './json-answer.ts';
import { SseFilter, textOfChunk } from './sse-filter.ts';
import { readUsage, usageForClient } from './usage.ts';

type Json = Readonly<Record<string, unknown>>;

/** Chat completions, and the older completions, whose answers have the same frame. */
export const chatForm = (
  request: Pick<ChatCompletionRequest | CompletionRequest, 'stream_options'>,
  chunkObject: 'chat.completion.chunk' | 'text_completion' = 'chat.completion.chunk',
  isKept = false,
): AnswerForm => ({
  read: readCompletion,
  openStream: () =>
    new ChatStream(request.stream_options?.include_usage === true, chunkObject, isKept ? new CompletionAssembly() : undefined),
});

function readCompletion(bytes: Buffer): PlainAnswer | undefined {
  const value = jsonObjectOf(bytes);
  if (!value || !Array.isArray(value['choices']) || value['choices'].length === 0) return undefined;
  const usage = readUsage(value['usage']);
  return {
    contentType: 'application/json',
    usage,
    delivered: { text: textOfChunk(value), scale: 1 },
    value,
    toBytes: (cost) => Buffer.from(JSON.stringify({ ...value, usage: shownUsage(usage && value['usage'], cost) })),
  };
}

const shownUsage = (reported: unknown, { usage, costUsd }: ShownCost): Json => ({ ...usageForClient(reported, usage), cost: costUsd });

/** A stream of chunks: bytes through, and at the end usage with the cost for whom it was asked for. */
class ChatStream implements StreamFilter {
  readonly contentType = 'text/event-stream';
  readonly #filter = new SseFilter();
  readonly #wantsUsage: boolean;
  readonly #chunkObject: string;
  readonly #assembly: CompletionAssembly | undefined;

  constructor(wantsUsage: boolean, chunkObject: string, assembly: CompletionAssembly | undefined) {
    this.#wantsUsage = wantsUsage;
    this.#chunkObject = chunkObject;
    this.#assembly = assembly;
  }

  push(chunk: Buffer): Buffer {
    return this.#kept(this.#filter.push(chunk));
  }

  end(): Buffer {
    return this.#kept(this.#filter.end());
  }

  get value(): unknown {
    return this.#assembly?.completion(this.#filter.usage);
  }

  get isOver(): boolean {
    return this.#filter.isOver;
  }

  get isInvalid(): boolean {
    return this.#filter.isInvalid;
  }

  get error(): StreamError | undefined {
    return this.#filter.error;
  }

  get isComplete(): boolean {
    return this.#filter.isComplete;
  }

  get usage() {
    return readUsage(this.#filter.usage);
  }

  delivered() {
    return this.#filter.delivered();
  }

  lastBytes(cost: ShownCost): Buffer {
    const usage = this.#wantsUsage ? this.#filter.usageChunk(shownUsage(this.usage && this.#filter.usage, cost), this.#chunkObject) : '';
    return Buffer.from(`${usage}data: [DONE]\n\n`);
  }

  errorBytes({ message, type, code }: StreamError): Buffer {
    return Buffer.from(`data: ${JSON.stringify({ error: { message, type, code, param: null } })}\n\n`);
  }

  #kept(passed: Buffer): Buffer {
    this.#assembly?.add(passed);
    return passed;
  }
}
