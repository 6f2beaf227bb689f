import type { ChatCompletionRequest, CompletionRequest } from '@tallygate/contract';
import { joined } from '../../kernel/joined.ts';
import { andThen, type Soon } from '../../kernel/soon.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import type { AnswerForm, Delivered, PlainAnswer, ShownCost, StreamError } from './answer-form.ts';
import { textOfChunk, usageOfChunk } from './chat-chunk.ts';
import { withoutNullUsage } from './chat-events.ts';
import { CompletionAssembly } from './chats/completion-assembly.ts';
import { DerivedStream } from './derived-stream.ts';
import type { Json } from './event-data.ts';
import { END_OF_EVENT } from './event-frames.ts';
import { jsonObjectOf } from './json-answer.ts';
import { tierSaid } from './service-tier.ts';
import { SseFilter } from './sse-filter.ts';
import { isSaid, leastUsage, readUsage, usageForClient, usageOfAnswer, usedUsage } from './usage.ts';

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
  read: (bytes) => andThen(jsonObjectOf(bytes), (given) => readCompletion(given, keptId)),
  usageIn: (usage) => usedUsage(leastUsage(usage)),
  openStream: () =>
    new ChatStream(
      request.stream_options?.include_usage === true,
      chunkObject,
      keptId === undefined ? undefined : { id: keptId, assembly: new CompletionAssembly() },
    ),
});

function readCompletion(given: Json | undefined, keptId: string | undefined): PlainAnswer | undefined {
  if (!given || !Array.isArray(given['choices']) || given['choices'].length === 0) return undefined;
  const value = keptId === undefined ? given : { ...given, id: keptId };
  const stated = usageOfChunk(value);
  const read = readUsage(stated);
  const { usage, usageSaid } = usageOfAnswer(read, () => textOfChunk(value) !== '', read ?? leastUsage(stated));
  return {
    contentType: 'application/json',
    usage,
    usageSaid,
    delivered: new CompletionText(value),
    serviceTier: tierSaid(value),
    value,
    toBytes: (cost) => writtenJson({ ...value, usage: shownUsage(isSaid(read, cost.usage) ? stated : undefined, cost) }),
  };
}

/** The text is needed where the provider has counted nothing, which is seldom. */
class CompletionText implements Delivered {
  readonly scale = 1;
  readonly #completion: Json;

  constructor(completion: Json) {
    this.#completion = completion;
  }

  get text(): string {
    return textOfChunk(this.#completion);
  }
}

const shownUsage = (reported: unknown, { usage, costUsd }: ShownCost): Json => ({ ...usageForClient(reported, usage), cost: costUsd });

/** A stream of chunks: bytes through, and at the end usage with the cost for whom it was asked for. */
class ChatStream extends DerivedStream<SseFilter> {
  readonly contentType = 'text/event-stream';
  readonly #wantsUsage: boolean;
  readonly #chunkObject: string;
  readonly #kept: Kept | undefined;

  constructor(wantsUsage: boolean, chunkObject: string, kept: Kept | undefined) {
    super(new SseFilter());
    this.#wantsUsage = wantsUsage;
    this.#chunkObject = chunkObject;
    this.#kept = kept;
  }

  override push(chunk: Buffer): Soon<Buffer> {
    return andThen(this.#kept ? super.push(chunk) : this.source.push(chunk), this.#asAsked);
  }

  override end(): Soon<Buffer> {
    return andThen(this.#kept ? super.end() : this.source.end(), this.#asAsked);
  }

  /** The provider was asked for the usage, and then every chunk has a member for it. */
  readonly #asAsked = (events: Buffer): Buffer => (this.#wantsUsage ? events : withoutNullUsage(events));

  get value(): unknown {
    return this.#kept?.assembly.completion(this.source.usage);
  }

  get usage() {
    return readUsage(this.source.usage);
  }

  lastBytes(cost: ShownCost): Buffer {
    const usage = this.#wantsUsage
      ? this.source.usageChunk(shownUsage(isSaid(this.usage, cost.usage) ? this.source.usage : undefined, cost), {
          object: this.#chunkObject,
          id: this.#kept?.id,
        })
      : '';
    return Buffer.from(`${usage}data: [DONE]\n\n`);
  }

  errorBytes({ message, type, code }: StreamError): Buffer {
    return Buffer.from(`data: ${JSON.stringify({ error: { message, type, code, param: null } })}\n\n`);
  }

  /** Of one that is kept. What is no chunk passes as it is. */
  protected said(chunk: Json | undefined, bytes: Buffer): Soon<Buffer> {
    if (!chunk || !this.#kept) return bytes;
    const { id, assembly } = this.#kept;
    assembly.add({ ...chunk, id }, bytes.length);
    return andThen(writtenJson({ ...chunk, id }), (json) => joined([Buffer.from('data: '), json, END_OF_EVENT]));
  }
}

/** A completion that is kept, as it comes. */
interface Kept {
  readonly id: string;
  readonly assembly: CompletionAssembly;
}
