import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joined } from '../joined.ts';
import type { MemoryReservation } from '../memory-reservation.ts';
import { breather } from '../turn.ts';
import { type EventSocket, MOST_REASON_BYTES, type SocketEnd } from './event-socket.ts';
import { FrameFault, FrameReader, type Received } from './frame-reader.ts';
import { FrameWriter } from './frame-writer.ts';
import { CLOSE, PING, PONG } from './frames.ts';

type Message = Extract<Received, { kind: 'message' }>;

/** A connection that says nothing for so long is asked whether it is there, and cut when it does not answer within as long again. */
const PING_MS = 20_000;
/** So long the other side may not agree to a close. */
const CLOSE_MS = 5_000;
const BROKEN = 1006;
/** So much of what comes is read at once: a frame may be of two bytes, so that there are thousands in what the network gives at once. */
const SLICE_BYTES = 4_096;

/** A message that is longer reserves memory. */
const SMALL_BYTES = 1024 * 1024;
/** So long it may take to arrive from there on: nobody else has the memory meanwhile. */
const LARGE_MS = 30_000;

export interface WebSocketOptions {
  /** Which end of the connection this is. */
  readonly role: 'server' | 'client';
  /** Of a message. */
  readonly mostBytes: number;
  /** What came behind the handshake. */
  readonly head: Buffer;
  /** Undefined where large messages reserve no memory. */
  readonly newReservation?: (() => MemoryReservation) | undefined;
}

/**
 * A connection whose handshake is done (RFC 6455). Frames are not compressed: a few bytes could be any number of them. What arrives and what is
 * sent is handled in pieces, so that a message of any size leaves the event loop to others.
 */
export class WebSocketConnection implements EventSocket {
  readonly #socket: Duplex;
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #chunks: Buffer[] = [];
  readonly #messages: Message[] = [];
  readonly #ended = Promise.withResolvers<SocketEnd>();
  readonly #pulse: NodeJS.Timeout;
  readonly #newReservation: (() => MemoryReservation) | undefined;
  readonly #left = Promise.withResolvers<void>();
  /** Of the large message that is arriving, or that is being taken. */
  #reservation: MemoryReservation | undefined;
  #late: NodeJS.Timeout | undefined;
  #isTaking = false;
  /** Of who waits for bytes, for a message, and for the last message to be taken. */
  #onBytes: (() => void) | undefined;
  #onMessage: (() => void) | undefined;
  #onTaken: (() => void) | undefined;
  #told: SocketEnd | undefined;
  #isClosing = false;
  #isGone = false;
  #hasEnded = false;
  #isAlive = true;

  /** From here on what comes is kept for `pump`. */
  constructor(socket: Duplex, { role, mostBytes, head, newReservation }: WebSocketOptions) {
    this.#socket = socket;
    this.#newReservation = newReservation;
    this.#reader = new FrameReader({ isMasked: role === 'server', mostBytes });
    this.#writer = new FrameWriter(socket, role === 'client');
    if (head.length > 0) this.#chunks.push(head);
    // HTTP's timeouts end with HTTP.
    if (socket instanceof Socket) socket.setTimeout(0).setNoDelay();
    socket.on('data', (chunk: Buffer) => this.#keep(chunk));
    socket.on('error', () => {});
    // Where the other side sends no more, neither does this one.
    socket.on('end', () => socket.end());
    socket.on('close', () => this.#gone());
    socket.pause();
    this.#pulse = setInterval(() => this.#beat(), PING_MS).unref();
    // The other side left before the handshake was answered: nothing will tell of it any more.
    if (!socket.readable || !socket.writable) socket.destroy();
    if (socket.destroyed) this.#gone();
    void this.#read();
  }

  async pump(take: (frame: Buffer, isText: boolean) => void | Promise<void>): Promise<SocketEnd> {
    try {
      for (;;) {
        const message = this.#messages.shift();
        if (message) await this.#take(message, take);
        else if (this.#hasEnded) return await this.#ended.promise;
        else await this.#nextMessage();
      }
    } catch (thrown) {
      this.#socket.destroy();
      throw thrown;
    }
  }

  async #take({ blocks, isText }: Message, take: (frame: Buffer, isText: boolean) => void | Promise<void>): Promise<void> {
    this.#isTaking = true;
    try {
      await take(await joined(blocks), isText);
    } finally {
      this.#isTaking = false;
      this.#release();
    }
  }

  send(frame: string | Buffer): void | Promise<void> {
    return this.#isClosing || this.#isGone ? undefined : this.#writer.text(frame);
  }

  close(code: number, reason: string): void {
    this.#close(code, reason);
    // What was not taken would keep the other side's close frame from being read.
    this.#onTaken?.();
  }

  #close(code: number, reason: string): void {
    if (this.#isClosing || this.#isGone) return;
    this.#isClosing = true;
    this.#writer.control(CLOSE, closePayload(code, reason));
    setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref();
  }

  #keep(chunk: Buffer): void {
    this.#isAlive = true;
    // What is in the buffers of the kernel stays there.
    this.#socket.pause();
    this.#chunks.push(chunk);
    this.#onBytes?.();
  }

  /** Reads what comes until the connection is gone. */
  async #read(): Promise<void> {
    const rest = breather();
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk) {
          for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
            for (const received of this.#reader.read(chunk.subarray(at, at + SLICE_BYTES))) {
              await this.#handle(received);
              await rest();
            }
            if (this.#newReservation && !this.#reservation && this.#reader.begun > SMALL_BYTES) await this.#enter(this.#newReservation());
            await rest();
          }
        } else if (this.#isGone) break;
        else await this.#nextBytes();
      }
    } catch (thrown) {
      if (!(thrown instanceof FrameFault)) throw thrown;
      this.#refuse(thrown);
    }
    if (this.#isGone) this.#end();
  }

  /** Before more of a large message is read. @throws FrameFault where there is not enough memory */
  async #enter(reservation: MemoryReservation): Promise<void> {
    if (this.#isGone) return;
    this.#reservation = reservation;
    const giveWay = () => this.#refuse(new FrameFault(1013));
    const arrival = { most: this.#reader.most, withinMs: LARGE_MS, come: () => this.#reader.begun, giveWay };
    await Promise.race([
      this.#left.promise,
      reservation.acquire(arrival).catch(() => {
        throw new FrameFault(1013);
      }),
    ]);
    if (!this.#isGone) this.#late = setTimeout(() => this.#refuse(new FrameFault(1008)), LARGE_MS).unref();
  }

  #release(): void {
    clearTimeout(this.#late);
    this.#reservation?.release();
    this.#reservation = undefined;
  }

  async #handle(received: Received): Promise<void> {
    switch (received.kind) {
      case 'message':
        clearTimeout(this.#late);
        this.#reservation?.complete(received.blocks.reduce((sum, { length }) => sum + length, 0));
        if (this.#isClosing) return this.#release();
        this.#messages.push(received);
        this.#onMessage?.();
        if (!this.#isGone) await this.#taken();
        return;
      case 'ping':
        // Of one that does not read its answers some are left out.
        if (this.#writer.hasRoom && !this.#isClosing) this.#writer.control(PONG, received.bytes);
        return;
      case 'close':
        this.#told ??= { code: received.code, reason: received.reason };
        this.#close(received.code, received.reason);
        void this.#writer.written.then(() => this.#socket.end());
        return;
      case 'pong':
        return;
      default:
        received satisfies never;
    }
  }

  /** The other side is told what is wrong, and what it goes on to send is dropped: it may be in the middle of it. */
  #refuse({ code, message }: FrameFault): void {
    this.#release();
    this.#close(code, message);
    void this.#writer.written.then(() => this.#socket.end());
    this.#chunks.length = 0;
    this.#socket.removeAllListeners('data');
    this.#socket.resume();
  }

  #nextBytes(): Promise<void> {
    return new Promise((resolve) => {
      this.#onBytes = resolve;
      this.#socket.resume();
    });
  }

  async #nextMessage(): Promise<void> {
    this.#onTaken?.();
    await new Promise<void>((resolve) => {
      this.#onMessage = resolve;
    });
  }

  async #taken(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onTaken = resolve;
    });
    this.#onTaken = undefined;
  }

  #beat(): void {
    // Of a connection that is held back nothing is read, its answers neither.
    if (this.#onTaken || this.#isClosing || this.#isGone) return;
    if (!this.#isAlive) {
      this.#socket.destroy();
      return;
    }
    this.#isAlive = false;
    this.#writer.control(PING, Buffer.alloc(0));
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearInterval(this.#pulse);
    this.#left.resolve();
    if (!this.#isTaking && this.#messages.length === 0) this.#release();
    this.#writer.stop();
    this.#onBytes?.();
    this.#onTaken?.();
    // Where reading was given up, nobody else says so.
    if (this.#socket.listenerCount('data') === 0) this.#end();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#ended.resolve(this.#told ?? { code: BROKEN, reason: '' });
    this.#onMessage?.();
  }
}

/** Of what cannot be sent as a status, such as 1005, nothing is said. */
function closePayload(code: number, reason: string): Buffer {
  if (code === 1005 || code === BROKEN) return Buffer.alloc(0);
  const payload = Buffer.concat([Buffer.alloc(2), Buffer.from(cut(reason))]);
  payload.writeUInt16BE(code, 0);
  return payload;
}

/** A close frame has room for little, in whole characters. */
function cut(reason: string): string {
  const bytes = Buffer.from(reason);
  return bytes.length <= MOST_REASON_BYTES ? reason : bytes.toString('utf8', 0, MOST_REASON_BYTES - 3).replace(/\uFFFD+$/, '');
}
