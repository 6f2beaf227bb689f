import { UpstreamCut } from '../port.ts';
import type { Translation } from '../translated-answer.ts';
import type { EventFrames, Frame } from './event-frames.ts';

/** What the messages of a stream say, as server-sent events in Anthropic's words. */
export interface FrameReader {
  read(frame: Frame): string;
  /** The body is through. */
  end?(): string;
}

/** A stream in AWS's framing on its way to whoever reads server-sent events. */
export class FramedStream implements Translation {
  readonly contentType: string;
  readonly #frames: EventFrames;
  readonly #reader: FrameReader;
  readonly #inner: Translation;

  constructor(frames: EventFrames, reader: FrameReader, inner: Translation) {
    this.contentType = inner.contentType;
    this.#frames = frames;
    this.#reader = reader;
    this.#inner = inner;
  }

  push(chunk: Buffer): Buffer {
    let said = '';
    for (const frame of this.#frames.push(chunk)) said += this.#reader.read(frame);
    return said === '' ? NOTHING : this.#inner.push(Buffer.from(said));
  }

  end(): Buffer {
    if (this.#frames.isOpen) throw new UpstreamCut('reset');
    return Buffer.concat([this.#inner.push(Buffer.from(this.#reader.end?.() ?? '')), this.#inner.end()]);
  }

  usageSoFar(): unknown {
    return this.#inner.usageSoFar?.();
  }

  finalUsage(): unknown {
    return this.#inner.finalUsage?.();
  }

  get hasUsageDecreased(): boolean {
    return this.#inner.hasUsageDecreased ?? false;
  }

  get isTooLarge(): boolean {
    return this.#frames.isTooLarge || (this.#inner.isTooLarge ?? false);
  }
}

const NOTHING = Buffer.alloc(0);

export const eventOf = (data: string, event?: string): string => `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`;
