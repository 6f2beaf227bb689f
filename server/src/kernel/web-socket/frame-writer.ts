import type { Duplex } from 'node:stream';
import { encodedText } from '../text-bytes.ts';
import { breather } from '../turn.ts';
import { frameOf, headOf, mask, newMask, TEXT } from './frames.ts';

/** What waits to be written on a connection before its sender is told to wait. */
const MOST_WAITING_BYTES = 1024 * 1024;
/** What is longer is masked and written in pieces of so many bytes. */
const PIECE_BYTES = 65_536;
/** So long the other side may not take what is sent. */
const SLOW_MS = 60_000;

/** Writes the frames of one side of a connection, one after another. */
export class FrameWriter {
  readonly #socket: Duplex;
  readonly #masks: boolean;
  /** What is being written in pieces; what follows waits for it. */
  #large: Promise<void> | undefined;
  #onRoom: (() => void)[] = [];
  #hasStopped = false;

  constructor(socket: Duplex, masks: boolean) {
    this.#socket = socket;
    this.#masks = masks;
    socket.on('drain', () => this.#wake());
  }

  get hasRoom(): boolean {
    return this.#socket.writableLength <= MOST_WAITING_BYTES;
  }

  /** Resolves when everything has been given to the connection. */
  get written(): Promise<void> {
    return this.#large ?? Promise.resolve();
  }

  /** Resolves at once, or when there is room again. */
  text(text: string | Buffer): void | Promise<void> {
    if (this.#large !== undefined || text.length > PIECE_BYTES) return this.#inOrder(() => this.#writeLarge(text));
    this.#socket.write(frameOf(TEXT, Buffer.from(text), this.#newMask()));
    return this.hasRoom ? undefined : this.#room();
  }

  /** A frame of at most 125 bytes. */
  control(opcode: number, payload: Buffer): void {
    const write = () => void this.#socket.write(frameOf(opcode, payload, this.#newMask()));
    if (this.#large !== undefined) void this.#inOrder(async () => write());
    else if (!this.#hasStopped) write();
  }

  /** The connection is gone. */
  stop(): void {
    this.#hasStopped = true;
    this.#wake();
  }

  #newMask(): Buffer | undefined {
    return this.#masks ? newMask() : undefined;
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    const mine: Promise<void> = this.written
      .then(() => (this.#hasStopped ? undefined : work()))
      .finally(() => {
        if (this.#large === mine) this.#large = undefined;
      });
    this.#large = mine;
    return mine;
  }

  async #writeLarge(text: string | Buffer): Promise<void> {
    const bytes = typeof text === 'string' ? await encodedText(text) : text;
    const key = this.#newMask();
    const rest = breather();
    this.#socket.write(headOf(TEXT, bytes.length, key));
    for (let at = 0; at < bytes.length && !this.#hasStopped; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      this.#socket.write(key ? masked(piece, key, at) : piece);
      await (this.hasRoom ? rest() : this.#room());
    }
  }

  /** Cuts the connection of who does not take what is sent. */
  async #room(): Promise<void> {
    const slow = setTimeout(() => this.#socket.destroy(), SLOW_MS).unref();
    while (!this.hasRoom && !this.#hasStopped)
      await new Promise<void>((resolve) => {
        this.#onRoom.push(resolve);
      });
    clearTimeout(slow);
  }

  #wake(): void {
    for (const resume of this.#onRoom.splice(0)) resume();
  }
}

function masked(piece: Buffer, key: Buffer, first: number): Buffer {
  const copy = Buffer.from(piece);
  mask(copy, key, first);
  return copy;
}
