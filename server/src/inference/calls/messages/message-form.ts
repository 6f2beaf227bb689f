import type { ReceiptUsage } from '@tallygate/contract';
import { andThen, inOrder } from '../../../kernel/soon.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { AnswerForm, StreamError } from '../answer-form.ts';
import type { Json } from '../event-data.ts';
import { jsonObjectOf } from '../json-answer.ts';
import { tierSaid } from '../service-tier.ts';
import { type EventForm, TypedEventStream } from '../typed-event-stream.ts';
import { isRecord, usageOfAnswer, usedUsage } from '../usage.ts';
import { errorEvent } from './message-errors.ts';
import { leastMessageUsage, readMessageUsage, StreamedUsage, shownMessageUsage } from './message-usage.ts';

/** Answers of a provider that has Messages itself: they pass as they are, with the cost in their usage. */
export const messageForm: AnswerForm = {
  async read(bytes) {
    const value = await jsonObjectOf(bytes);
    if (value?.['type'] !== 'message' || !Array.isArray(value['content'])) return undefined;
    const text = await textOfContent(value['content']);
    const said = readMessageUsage(value['usage']);
    const { usage, usageSaid } = usageOfAnswer(said, () => text !== '', leastMessageUsage(value['usage']));
    return {
      contentType: 'application/json',
      ...{ usage, usageSaid },
      delivered: { text, scale: 1 },
      serviceTier: tierSaid(value['usage']),
      value,
      toBytes: (cost) => writtenJson({ ...value, usage: shownMessageUsage(value['usage'], usage && said, cost) }),
    };
  },
  openStream: () => new MessageStream(new StreamedUsage()),
  usageIn: (usage) => usedUsage(leastMessageUsage(usage)),
};

const TELLING = new Set(['message_start', 'message_delta', 'message_stop']);

class MessageStream extends TypedEventStream {
  readonly #told: StreamedUsage;

  constructor(told: StreamedUsage) {
    super(eventForm(told));
    this.#told = told;
  }

  override get hasUsageDecreased(): boolean {
    return super.hasUsageDecreased || this.#told.hasDecreased;
  }

  get promptSaid(): ReceiptUsage | undefined {
    return this.#told.prompt;
  }

  override errorBytes(error: StreamError): Buffer {
    return errorEvent(error);
  }
}

const eventForm = (told: StreamedUsage): EventForm => ({
  isWatched: (type) => TELLING.has(type),
  isFinal: (type) => type === 'message_stop',
  // An overloaded provider says so behind the beginning, before any content.
  isOpening: (type) => type === 'message_start' || type === 'ping',
  isEnding: (type) => type === 'message_delta',
  readUsage: (event) => told.read(event),
  tierOf: ({ message }) => (isRecord(message) ? tierSaid(message['usage']) : undefined),
  withCost: (event, cost) =>
    event['type'] === 'message_delta' ? { ...event, usage: shownMessageUsage(event['usage'], told.whole, cost) } : event,
  codeOf: ({ type }) => type,
  textOf: ({ delta, content_block: block }) => textOfDelta(delta) + (isRecord(block) ? textOfBlock(block) : ''),
});

const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');

const textOfDelta = (delta: unknown): string =>
  isRecord(delta) ? textOr(delta['text']) + textOr(delta['thinking']) + textOr(delta['partial_json']) : '';

const textOfBlock = (block: Json): string => textOr(block['text']) + textOr(block['thinking']) + textOr(block['name']);

/** Everything that the model wrote, the input of calls as its JSON: which may be large. */
const textOfContent = async (content: readonly unknown[]): Promise<string> => {
  const texts = await inOrder(content.filter(isRecord), (block) =>
    andThen(isRecord(block['input']) ? writtenJson(block['input']) : EMPTY, (input) => textOfBlock(block) + input.toString()),
  );
  return texts.join('');
};

const EMPTY = Buffer.alloc(0);
