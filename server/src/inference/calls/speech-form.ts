import { Buffer } from 'node:buffer';
import type { ReceiptUsage } from '@tallygate/contract';
import type { AnswerForm, PlainAnswer, ShownCost, StreamError, StreamFilter } from './answer-form.ts';
import { ByteStream, isText } from './byte-stream.ts';
import { eventsOf } from './event-frames.ts';
import { keptSound, type SpeechFormat } from './sound-tokens.ts';
import { dataOf, jsonOf } from './sse-filter.ts';
import { type EventForm, TypedEventStream } from './typed-event-stream.ts';
import { isCount, isRecord, isSaid, NO_USAGE, readUsage, usedUsage } from './usage.ts';
import type { Delivered } from './work.ts';

const EMPTY = Buffer.alloc(0);
const KEPT_BYTES = 1024 * 1024;

const CONTENT_TYPES: Readonly<Record<SpeechFormat, string>> = {
  ...{ mp3: 'audio/mpeg', opus: 'audio/ogg', aac: 'audio/aac', flac: 'audio/flac', wav: 'audio/wav', pcm: 'audio/pcm' },
};

const isEventStream = (contentType: string | null): boolean => /^text\/event-stream/i.test(contentType ?? '');

/** As OpenAI says it at the end of events, or as servers do that write it as for a chat. */
function soundUsage(usage: unknown): ReceiptUsage | undefined {
  if (!isRecord(usage)) return undefined;
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage;
  if (!isCount(input) || !isCount(output)) return readUsage(usage);
  return { ...NO_USAGE, input_tokens: input, output_tokens: isCount(total) ? Math.max(output, total - input) : output };
}

const soundIn = ({ audio }: Readonly<Record<string, unknown>>): Buffer =>
  typeof audio === 'string' ? Buffer.from(audio, 'base64') : EMPTY;

const EVENTS: EventForm = {
  isWatched: (type) => type === 'speech.audio.done',
  isFinal: (type) => type === 'speech.audio.done',
  readUsage: ({ usage }) => soundUsage(usage),
  withCost: (final, { usage, costUsd }) => {
    const { input_tokens, output_tokens } = usage;
    const counted = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
    const shown = isRecord(final['usage']) && isSaid(soundUsage(final['usage']), usage) ? final['usage'] : counted;
    return { ...final, usage: { ...shown, cost: costUsd } };
  },
  textOf: (event) => {
    const sound = soundIn(event);
    return sound.length === 0 ? '' : keptSound(sound);
  },
};

const usageIn = (usage: unknown): ReceiptUsage | undefined => usedUsage(soundUsage(usage));

/** Speech that is priced by tokens, in events. */
export const soundEventForm = (): AnswerForm => ({
  read: async () => undefined,
  openStream: () => new TypedEventStream(EVENTS),
  usageIn,
});

/** The same as plain sound: out of events, or as it comes where the provider has no events. */
export function soundForm(format: SpeechFormat): AnswerForm {
  const openStream = (contentType: string | null): StreamFilter =>
    isEventStream(contentType) ? new SoundOfEvents(CONTENT_TYPES[format]) : new PlainSound(undefined, contentType);
  return {
    openStream,
    usageIn,
    async read(bytes, contentType): Promise<PlainAnswer | undefined> {
      if (!isEventStream(contentType) && isText(contentType)) return undefined;
      const filter = openStream(contentType);
      const sound = Buffer.concat([filter.push(bytes), filter.end()]);
      const usage = filter.usage;
      if (filter.isInvalid || (!filter.isComplete && usage === undefined && sound.length === 0)) return undefined;
      const whole = Buffer.concat([sound, filter.lastBytes({ usage: usage ?? NO_USAGE, costUsd: 0 })]);
      return {
        ...{ contentType: filter.contentType, usage, delivered: filter.delivered(), value: undefined, toBytes: () => whole },
        ...(!filter.isComplete && { hasFailed: true }),
      };
    },
  };
}

/** Sound as it comes, whose usage nobody tells. The beginning is kept, for an estimate. */
class PlainSound extends ByteStream {
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #bytes = 0;

  override push(chunk: Buffer): Buffer {
    this.#bytes += chunk.length;
    if (this.#keptBytes < KEPT_BYTES) {
      this.#kept.push(chunk);
      this.#keptBytes += chunk.length;
    }
    return super.push(chunk);
  }

  override delivered(): Delivered {
    return this.#keptBytes === 0
      ? { text: '', scale: 1 }
      : { text: keptSound(Buffer.concat(this.#kept)), scale: this.#bytes / this.#keptBytes };
  }
}

/** The sound in events. The last byte is kept back: it may leave only when the money is settled. */
class SoundOfEvents implements StreamFilter {
  readonly contentType: string;
  readonly value = undefined;
  readonly #events = new TypedEventStream(EVENTS);
  #last: Buffer = EMPTY;

  constructor(contentType: string) {
    this.contentType = contentType;
  }

  push(chunk: Buffer): Buffer {
    return this.#soundOf(this.#events.push(chunk));
  }

  end(): Buffer {
    return this.#soundOf(this.#events.end());
  }

  get isOver(): boolean {
    return this.#events.isOver;
  }

  get isInvalid(): boolean {
    return this.#events.isInvalid;
  }

  get isTooLarge(): boolean {
    return this.#events.isTooLarge;
  }

  get isUnreadable(): boolean {
    return this.#events.isUnreadable;
  }

  get error(): StreamError | undefined {
    return this.#events.error;
  }

  get isComplete(): boolean {
    return this.#events.isComplete;
  }

  get usage(): ReceiptUsage | undefined {
    return this.#events.usage;
  }

  get usageSaid(): ReceiptUsage | undefined {
    return this.#events.usageSaid;
  }

  delivered(): Delivered {
    return this.#events.delivered();
  }

  lastBytes(_cost: ShownCost): Buffer {
    return this.#last;
  }

  /** Sound has no words for what went wrong: it is shorter than its length says. */
  errorBytes(): Buffer {
    return EMPTY;
  }

  #soundOf(events: Buffer): Buffer {
    if (events.length === 0) return EMPTY;
    const pieces = eventsOf(events).map((event) => soundIn(jsonOf(dataOf(event.toString('utf8'))) ?? {}));
    const sound = Buffer.concat([this.#last, ...pieces]);
    this.#last = sound.subarray(-1);
    return sound.subarray(0, -1);
  }
}
