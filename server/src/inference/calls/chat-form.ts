import type { ChatCompletionRequest, CompletionRequest } from '@tallygate/contract';
import { writtenJson } from '../../kernel/written-json.ts';
import type { AnswerForm, PlainAnswer, ShownCost, StreamError, StreamFilter } from './answer-form.ts';
import { CompletionAssembly } from './chats/completion-assembly.ts';
import { eventsOf } from './event-frames.ts';
import { jsonObjectOf } from './json-answer.ts';
import { dataOf, jsonOf, SseFilter, textOfChunk } from './sse-filter.ts';
import { leastUsage, readUsage, usageForClient, usageOfAnswer, usedUsage } from './usage.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Chat completions, and the older completions, whose answers have the same frame.
 *
 * @param keptId of one that is kept: its name here, in place of its provider's, of which there may be two alike
 */
export const chatForm = (
  request: Pick<ChatCompletionRequest | CompletionRequest, 'stream_options'>,
  chunkObject: 'chat.completion.chunk' | 'text_completion' = 'chat.completion.chunk',
  keptId?: string,
): AnswerForm => ({
  read: (bytes) => readCompletion(bytes, keptId),
  usageIn: (usage) => usedUsage(readUsage(usage)),
  openStream: () =>
    new ChatStream(
      request.stream_options?.include_usage === true,
      chunkObject,
      keptId === undefined ? undefined : { id: keptId, assembly: new CompletionAssembly() },
    ),
});

async function readCompletion(bytes: Buffer, keptId: string | undefined): Promise<PlainAnswer | undefined> {
  const given = await jsonObjectOf(bytes);
  if (!given || !Array.isArray(given['choices']) || given['choices'].length === 0) return undefined;
  const value = keptId === undefined ? given : { ...given, id: keptId };
  const text = textOfChunk(value);
  const { usage, usageSaid } = usageOfAnswer(readUsage(value['usage']), () => text !== '', leastUsage(value['usage']));
  return {
    contentType: 'application/json',
    ...{ usage, usageSaid },
    delivered: { text, scale: 1 },
    value,
    toBytes: (cost) => writtenJson({ ...value, usage: shownUsage(usage && value['usage'], cost) }),
  };
}

const shownUsage = (reported: unknown, { usage, costUsd }: ShownCost): Json => ({ ...usageForClient(reported, usage), cost: costUsd });

/** A stream of chunks: bytes through, and at the end usage with the cost for whom it was asked for. */
class ChatStream implements StreamFilter {
  readonly contentType = 'text/event-stream';
  readonly #filter = new SseFilter();
  readonly #wantsUsage: boolean;
  readonly #chunkObject: string;
  readonly #kept: Kept | undefined;

  constructor(wantsUsage: boolean, chunkObject: string, kept: Kept | undefined) {
    this.#wantsUsage = wantsUsage;
    this.#chunkObject = chunkObject;
    this.#kept = kept;
  }

  push(chunk: Buffer): Buffer {
    return this.#keep(this.#filter.push(chunk));
  }

  end(): Buffer {
    return this.#keep(this.#filter.end());
  }

  get value(): unknown {
    return this.#kept?.assembly.completion(this.#filter.usage);
  }

  get isOver(): boolean {
    return this.#filter.isOver;
  }

  get isInvalid(): boolean {
    return this.#filter.isInvalid;
  }

  get isTooLarge(): boolean {
    return this.#filter.isTooLarge;
  }

  get isUnreadable(): boolean {
    return this.#filter.isUnreadable;
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

  get usageSaid() {
    return this.#filter.usageSaid;
  }

  delivered() {
    return this.#filter.delivered();
  }

  lastBytes(cost: ShownCost): Buffer {
    const usage = this.#wantsUsage
      ? this.#filter.usageChunk(shownUsage(this.usage && this.#filter.usage, cost), { object: this.#chunkObject, id: this.#kept?.id })
      : '';
    return Buffer.from(`${usage}data: [DONE]\n\n`);
  }

  errorBytes({ message, type, code }: StreamError): Buffer {
    return Buffer.from(`data: ${JSON.stringify({ error: { message, type, code, param: null } })}\n\n`);
  }

  #keep(passed: Buffer): Buffer {
    if (!this.#kept || passed.length === 0) return passed;
    const { id, assembly } = this.#kept;
    const named = Buffer.concat(eventsOf(passed).map((event) => withId(event, id)));
    assembly.add(named);
    return named;
  }
}

/** A completion that is kept, as it comes. */
interface Kept {
  readonly id: string;
  readonly assembly: CompletionAssembly;
}

/** What is no chunk passes as it is. */
function withId(event: Buffer, id: string): Buffer {
  const chunk = jsonOf(dataOf(event.toString('utf8')));
  return chunk ? Buffer.from(`data: ${JSON.stringify({ ...chunk, id })}\n\n`) : event;
}
