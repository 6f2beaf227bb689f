import type { MessagesRequest } from '@tallygate/contract';
import { newId } from '../../../kernel/ids.ts';
import { joined } from '../../../kernel/joined.ts';
import { andThen, inOrder, type Soon } from '../../../kernel/soon.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { AnswerForm, PlainAnswer, ShownCost, StreamError } from '../answer-form.ts';
import { choicesOf, textOfChunk, usageOfChunk } from '../chat-chunk.ts';
import { DerivedStream } from '../derived-stream.ts';
import type { Json } from '../event-data.ts';
import { writtenEvent } from '../event-frames.ts';
import { jsonObjectOf } from '../json-answer.ts';
import { tierSaid } from '../service-tier.ts';
import { SseFilter } from '../sse-filter.ts';
import { toolArguments } from '../tool-arguments.ts';
import { isRecord, leastUsage, readUsage, usageOfAnswer, usedUsage } from '../usage.ts';
import { type Block, ContentBuilder } from './content-builder.ts';
import { errorEvent } from './message-errors.ts';
import { usageOnMessage } from './message-usage.ts';

/** What of the request its answer needs. */
interface Asked {
  readonly request: Pick<MessagesRequest, 'model'>;
  /** The caller's name of a tool, by the one that it has in the chat. */
  readonly originalName: (name: string) => string;
}

/** Messages made of a provider's chat completions. */
export const messageFromChatForm = (asked: Asked): AnswerForm => ({
  read: (bytes) => readCompletion(bytes, asked),
  openStream: () => new MessageFromChatStream(asked),
  usageIn: (usage) => usedUsage(leastUsage(usage)),
});

const EMPTY = Buffer.alloc(0);
const newMessageId = (): string => `msg_${newId().replaceAll('-', '')}`;
const shownUsage = ({ usage, costUsd }: ShownCost): Json => ({ ...usageOnMessage(usage), cost: costUsd });

async function readCompletion(bytes: Buffer, { request, originalName }: Asked): Promise<PlainAnswer | undefined> {
  const completion = await jsonObjectOf(bytes);
  const [choice] = choicesOf(completion);
  if (!completion || !choice || !isRecord(choice['message'])) return undefined;
  const builder = new ContentBuilder(originalName);
  builder.add(choice['message']);
  builder.finish(choice['finish_reason']);
  const text = textOfChunk(completion);
  const stated = usageOfChunk(completion);
  const message = {
    ...messageOf(newMessageId(), completion['model'], request),
    content: await contentOf(builder),
    stop_reason: builder.stopReason,
  };
  return {
    contentType: 'application/json',
    ...usageOfAnswer(readUsage(stated), () => text !== '', leastUsage(stated)),
    delivered: { text, scale: 1 },
    serviceTier: tierSaid(completion),
    value: message,
    ...(builder.isTooLarge && { isTooLarge: true as const }),
    toBytes: (cost) => writtenJson({ ...message, usage: shownUsage(cost) }),
  };
}

const messageOf = (id: string, model: unknown, request: Asked['request']): Json => ({
  id,
  type: 'message',
  role: 'assistant',
  model: typeof model === 'string' ? model : request.model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
});

const contentOf = async ({ blocks }: ContentBuilder): Promise<Json[]> =>
  inOrder<Block, Json>(blocks, ({ kind, opening, text }) => {
    if (kind === 'text') return { ...opening, text };
    if (kind === 'thinking') return { ...opening, thinking: text };
    return toolArguments(text).then((input) => ({ ...opening, input }));
  });

/** Chunks of a chat become the events of a message, each as soon as it can be said. */
class MessageFromChatStream extends DerivedStream<SseFilter> {
  readonly contentType = 'text/event-stream';
  readonly value = undefined;
  readonly #asked: Asked;
  readonly #builder: ContentBuilder;
  #hasBegun = false;

  constructor(asked: Asked) {
    super(new SseFilter());
    this.#asked = asked;
    this.#builder = new ContentBuilder(asked.originalName);
  }

  get usage() {
    return readUsage(this.source.usage);
  }

  lastBytes(cost: ShownCost): Soon<Buffer> {
    const delta = { stop_reason: this.#builder.stopReason, stop_sequence: null };
    return say([
      ...this.#begin(undefined),
      ...this.#builder.close(),
      { type: 'message_delta', delta, usage: shownUsage(cost) },
      { type: 'message_stop' },
    ]);
  }

  errorBytes(error: StreamError): Buffer {
    return errorEvent(error);
  }

  protected said(chunk: Json | undefined): Soon<Buffer> {
    const [choice] = choicesOf(chunk);
    if (!chunk || !choice) return EMPTY;
    const begun = this.#begin(chunk['model']);
    const events = isRecord(choice['delta']) ? this.#builder.add(choice['delta']) : [];
    if (this.#builder.isTooLarge) {
      this.leaveOut();
      return EMPTY;
    }
    this.#builder.finish(choice['finish_reason']);
    return say([...begun, ...events]);
  }

  /** The event that begins the message; once. What it costs is known at its end. */
  #begin(model: unknown): Json[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const usage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
    return [{ type: 'message_start', message: { ...messageOf(newMessageId(), model, this.#asked.request), usage } }];
  }
}

const say = (events: readonly Json[]): Soon<Buffer> => andThen(inOrder(events, writtenEvent), joined);
