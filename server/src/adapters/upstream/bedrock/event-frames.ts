import { crc32 } from 'node:zlib';
import type { EventStreamCodec } from '@smithy/eventstream-codec';
import { UpstreamCut } from '../port.ts';

/** One message of a stream. */
export interface Frame {
  /** `event`; `exception` and `error` end the stream. */
  readonly kind: string;
  /** The event's name, the exception's, or the code of the error. */
  readonly name: string;
  /** JSON, as it came. */
  readonly payload: string;
}

/** Lengths and their checksum come before headers, payload and the checksum of all. */
const PRELUDE_BYTES = 12;
const LEAST_BYTES = PRELUDE_BYTES + 4;
/** What is longer is left out. AWS puts a million bytes at most into one part of an answer, in base64. */
const LONGEST_BYTES = 2 * 1024 * 1024;
const UNREADABLE: Frame = { kind: 'event', name: 'unreadable', payload: 'unreadable' };
const NOTHING = Buffer.alloc(0);

/** Reads `application/vnd.amazon.eventstream` from chunks that are cut anywhere; AWS's own codec reads each message. */
export class EventFrames {
  readonly #codec: Pick<EventStreamCodec, 'decode'>;
  /** Parts of the message that is being read; put together once. */
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Of the whole message; undefined while its prelude has not come. */
  #wanted: number | undefined;
  /** Bytes of a message that is left out, which are still to come. */
  #toSkip = 0;
  #isTooLarge = false;

  constructor(codec: Pick<EventStreamCodec, 'decode'>) {
    this.#codec = codec;
  }

  /** A message was too large, and is left out. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** A message has begun whose end has not come. */
  get isOpen(): boolean {
    return this.#bytes > 0 || this.#toSkip > 0;
  }

  /** The messages that end in this chunk. @throws UpstreamCut where nothing can be read any more */
  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      const taken = this.#toSkip > 0 ? this.#skip(rest) : this.#take(rest);
      rest = rest.subarray(taken);
      if (this.#wanted !== undefined && this.#bytes === this.#wanted) frames.push(this.#frame());
    }
    return frames;
  }

  #skip(rest: Buffer): number {
    const taken = Math.min(this.#toSkip, rest.length);
    this.#toSkip -= taken;
    return taken;
  }

  #take(rest: Buffer): number {
    const part = rest.subarray(0, (this.#wanted ?? PRELUDE_BYTES) - this.#bytes);
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#wanted === undefined && this.#bytes === PRELUDE_BYTES) this.#begin();
    return part.length;
  }

  #begin(): void {
    const prelude = Buffer.concat(this.#parts);
    const length = prelude.readUInt32BE(0);
    if (length < LEAST_BYTES || crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8))
      throw new UpstreamCut('reset', { cause: new SyntaxError('What came is no message of an event stream') });
    if (length <= LONGEST_BYTES) {
      this.#wanted = length;
      return;
    }
    this.#isTooLarge = true;
    this.#toSkip = length - PRELUDE_BYTES;
    this.#forget();
  }

  #frame(): Frame {
    const [only] = this.#parts;
    const message = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts);
    this.#forget();
    try {
      const { headers, body } = this.#codec.decode(message);
      const text = (name: string): string => String(headers[name]?.value ?? '');
      const kind = text(':message-type');
      const name = text(':event-type') || text(':exception-type') || text(':error-code');
      return { kind, name, payload: kind === 'error' ? errorIn(text(':error-message')) : textOf(body) };
    } catch {
      return UNREADABLE;
    }
  }

  #forget(): void {
    this.#parts = [];
    this.#bytes = 0;
    this.#wanted = undefined;
  }
}

const errorIn = (message: string): string => JSON.stringify({ message });
const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array = NOTHING): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
