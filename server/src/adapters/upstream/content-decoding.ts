import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type Gunzip,
  type Inflate,
} from 'node:zlib';

type Decoder = Gunzip | Inflate | BrotliDecompress;

/** The connection that the encoded bytes come from. */
interface Source {
  pause(): void;
  resume(): void;
}

/** What takes the decoded bytes. */
interface Sink {
  take(chunk: Buffer): void;
  /** Told once: of a body that could not be decoded to its end, with the reason. */
  end(error?: Error): void;
}

/** So much is decoded whatever it came from: a stream that only says that it is alive shrinks to nothing. */
const FREE_BYTES = 1024 * 1024;
/** Answers shrink to a tenth, the same word over and over to a thousandth. Who sends more than this wants to keep us busy. */
const MOST_TIMES = 256;
const CHUNK_BYTES = 16 * 1024;
/** Nothing is decoded ahead of the reader: what is not read when decoding fails would be lost. */
const OPTIONS = { chunkSize: CHUNK_BYTES, readableHighWaterMark: 1 };

const DECODERS: Readonly<Record<string, (first: Buffer) => Decoder>> = {
  gzip: () => createGunzip(OPTIONS),
  'x-gzip': () => createGunzip(OPTIONS),
  deflate: (first) => (hasZlibHead(first) ? createInflate(OPTIONS) : createInflateRaw(OPTIONS)),
  br: () => createBrotliDecompress(OPTIONS),
};

/** RFC 9110 §8.4.1.2: some senders leave the head out of `deflate`. */
const hasZlibHead = (first: Buffer): boolean => ((first[0] ?? 0) & 0x0f) === 8;

/** Whether bytes in this encoding are those of the body. */
export const isPlain = (encoding: string): boolean => encoding === '' || encoding === 'identity';

export const isDecodable = (encoding: string): boolean => Object.hasOwn(DECODERS, encoding);

/**
 * A body on its way out of an encoding that was not asked for. Decoded in pieces, off the event loop, and no faster than it is read: however
 * small the bytes are that it came in, no more of it is in memory than of any other body. The bounds of answers are bounds of what is decoded.
 */
export class ContentDecoding {
  readonly #encoding: string;
  readonly #source: Source;
  readonly #sink: Sink;
  #decoder: Decoder | undefined;
  #decodedBytes = 0;
  #unwritten = 0;
  #isPaused = false;
  /** How the encoded bytes ended. */
  #ended: { readonly error: Error | undefined } | undefined;
  #isOver = false;

  /** @param encoding one that {@link isDecodable} */
  constructor(encoding: string, source: Source, sink: Sink) {
    this.#encoding = encoding;
    this.#source = source;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    if (this.#isOver || chunk.length === 0) return;
    this.#decoder ??= this.#open(chunk);
    this.#unwritten += 1;
    const hasRoom = this.#decoder.write(chunk, () => {
      this.#unwritten -= 1;
      this.#finish();
    });
    if (!hasRoom) this.#source.pause();
  }

  /** The encoded bytes are through, or have broken off. */
  end(error?: Error): void {
    this.#ended ??= { error };
    if (this.#decoder) this.#finish();
    else this.#settle(error);
  }

  pause(): void {
    this.#isPaused = true;
    this.#decoder?.pause();
    this.#source.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#decoder?.resume();
    if (!this.#decoder?.writableNeedDrain) this.#source.resume();
    this.#finish();
  }

  /** Nothing more is wanted. */
  close(): void {
    this.#isOver = true;
    this.#decoder?.destroy();
  }

  #open(first: Buffer): Decoder {
    const decoder = DECODERS[this.#encoding]?.(first);
    if (!decoder) throw new Error(`Nothing decodes ${this.#encoding}`);
    decoder.on('data', (chunk: Buffer) => this.#take(chunk, decoder));
    decoder.on('drain', () => {
      if (!this.#isPaused) this.#source.resume();
    });
    decoder.on('end', () => this.#settle(this.#ended?.error));
    decoder.on('error', (error) => this.#settle(this.#ended?.error ?? error));
    if (this.#isPaused) decoder.pause();
    return decoder;
  }

  #take(chunk: Buffer, { bytesWritten }: Decoder): void {
    if (this.#isOver) return;
    this.#decodedBytes += chunk.length;
    if (this.#decodedBytes > FREE_BYTES && this.#decodedBytes > bytesWritten * MOST_TIMES)
      this.#settle(new Error(`The provider's answer decodes to more than ${MOST_TIMES} times its size`));
    else this.#sink.take(chunk);
  }

  /** Only once everything is read: an error that its end brings would drop the rest. */
  #finish(): void {
    const isRead = this.#unwritten === 0 && !this.#isPaused;
    if (this.#ended && isRead && !this.#isOver && !this.#decoder?.writableEnded) this.#decoder?.end();
  }

  #settle(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#decoder?.destroy();
    this.#sink.end(error);
  }
}
