import { Buffer } from 'node:buffer';
import type { ReceiptUsage } from '@tallygate/contract';
import { GrowingBuffer } from '../../kernel/growing-buffer.ts';
import { joined } from '../../kernel/joined.ts';
import type { Soon } from '../../kernel/soon.ts';
import { statedUsage } from '../../kernel/stated-usage.ts';
import { breather } from '../../kernel/turn.ts';
import type { AnswerForm, Delivered, PlainAnswer, StreamFilter } from './answer-form.ts';
import { ByteStream, isText } from './byte-stream.ts';
import { DerivedStream } from './derived-stream.ts';
import type { Json } from './event-data.ts';
import { keptSound, keptText, type SpeechFormat } from './sound-tokens.ts';
import { type EventForm, TypedEventStream } from './typed-event-stream.ts';
import { isRecord, isSaid, NO_USAGE, readTokens, readUsage, usedUsage } from './usage.ts';

const EMPTY = Buffer.alloc(0);
const KEPT_BYTES = 1024 * 1024;
const PIECE_BYTES = 65_536;

const CONTENT_TYPES: Readonly<Record<SpeechFormat, string>> = {
  ...{ mp3: 'audio/mpeg', opus: 'audio/ogg', aac: 'audio/aac', flac: 'audio/flac', wav: 'audio/wav', pcm: 'audio/pcm' },
};

const isEventStream = (contentType: string | null): boolean => /^text\/event-stream/i.test(contentType ?? '');

/** As OpenAI says it at the end of events, or as servers do that write it as for a chat. */
function soundUsage(usage: unknown): ReceiptUsage | undefined {
  const tokens = readTokens(usage);
  return tokens ? { ...NO_USAGE, input_tokens: tokens.input, output_tokens: tokens.output } : readUsage(usage);
}

const soundIn = ({ audio }: Json): Buffer => (typeof audio === 'string' ? Buffer.from(audio, 'base64') : EMPTY);

const EVENTS: EventForm = {
  isWatched: (type) => type === 'speech.audio.done',
  isFinal: (type) => type === 'speech.audio.done',
  readUsage: (event) => soundUsage(statedUsage(event)),
  withCost: (final, { usage, costUsd }) => {
    const { input_tokens, output_tokens } = usage;
    const counted = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
    const shown = isRecord(final['usage']) && isSaid(soundUsage(final['usage']), usage) ? final['usage'] : counted;
    return { ...final, usage: { ...shown, cost: costUsd } };
  },
  textOf: ({ audio }) => (typeof audio === 'string' ? keptText(audio) : ''),
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
      const sound = await soundOf(filter, bytes);
      const usage = filter.usage;
      if (filter.isInvalid || (!filter.isComplete && usage === undefined && sound.length === 0)) return undefined;
      const whole = Buffer.concat([sound, await filter.lastBytes({ usage: usage ?? NO_USAGE, costUsd: 0 })]);
      return {
        ...{ contentType: filter.contentType, usage, delivered: filter.delivered(), value: undefined, toBytes: () => whole },
        ...(!filter.isComplete && { hasFailed: true }),
      };
    },
  };
}

/** Other work has its turn between its parts. */
async function soundOf(filter: StreamFilter, bytes: Buffer): Promise<Buffer> {
  const rest = breather();
  const sound = new GrowingBuffer();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    sound.add(await filter.push(bytes.subarray(at, at + PIECE_BYTES)));
    await rest();
  }
  sound.add(await filter.end());
  return sound.take();
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
class SoundOfEvents extends DerivedStream<TypedEventStream> {
  readonly contentType: string;
  readonly value = undefined;
  #last: Buffer = EMPTY;

  constructor(contentType: string) {
    super(new TypedEventStream(EVENTS));
    this.contentType = contentType;
  }

  get usage(): ReceiptUsage | undefined {
    return this.source.usage;
  }

  lastBytes(): Buffer {
    return this.#last;
  }

  /** Sound has no words for what went wrong: it is shorter than its length says. */
  errorBytes(): undefined {
    return undefined;
  }

  protected said(event: Json | undefined): Soon<Buffer> {
    const sound = soundIn(event ?? {});
    if (sound.length === 0) return EMPTY;
    const before = this.#last;
    // A copy: all of the sound would be kept for its last byte.
    this.#last = Buffer.from(sound.subarray(-1));
    const rest = sound.subarray(0, -1);
    return before.length === 0 ? rest : joined([before, rest]);
  }
}
