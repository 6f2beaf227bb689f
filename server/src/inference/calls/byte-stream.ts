import type { ReceiptUsage } from '@tallygate/contract';
import type { AnswerForm, Delivered, PlainAnswer, StreamFilter } from './answer-form.ts';

const EMPTY = Buffer.alloc(0);
const NOTHING = { text: '', scale: 1 };
const OCTETS = 'application/octet-stream';

/** Answers that are bytes of any kind, audio for one. What they cost follows from the request. */
export const bytesForm = (usage: ReceiptUsage): AnswerForm => ({
  async read(bytes, contentType): Promise<PlainAnswer | undefined> {
    if (bytes.length === 0 || isText(contentType)) return undefined;
    return { contentType: contentType ?? OCTETS, usage, delivered: NOTHING, value: undefined, toBytes: () => bytes };
  },
  openStream: (contentType) => new ByteStream(usage, contentType),
  usageIn: () => usage,
});

/** A provider that answers in JSON or HTML means to say something else. */
export const isText = (contentType: string | null): boolean => /^(application\/(problem\+)?json|text\/)/i.test(contentType ?? '');

/** Bytes through, the last chunk kept back: it may leave only when the money is settled. */
export class ByteStream implements StreamFilter {
  readonly contentType: string;
  /** Undefined where nothing tells it. */
  readonly usage: ReceiptUsage | undefined;
  readonly error = undefined;
  readonly isTooLarge = false;
  readonly value = undefined;
  readonly isInvalid: boolean;
  #last: Buffer = EMPTY;
  #isComplete = false;

  constructor(usage: ReceiptUsage | undefined, contentType: string | null) {
    this.usage = usage;
    this.contentType = contentType ?? OCTETS;
    this.isInvalid = isText(contentType);
  }

  push(chunk: Buffer): Buffer {
    if (this.isInvalid) return EMPTY;
    const passed = this.#last;
    this.#last = chunk;
    return passed;
  }

  end(): Buffer {
    this.#isComplete = this.#last.length > 0;
    return EMPTY;
  }

  get isOver(): boolean {
    return this.isInvalid;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  delivered(): Delivered {
    return NOTHING;
  }

  lastBytes(): Buffer {
    return this.#last;
  }

  errorBytes(): undefined {
    return undefined;
  }
}
