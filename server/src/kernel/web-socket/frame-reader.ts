import { isUtf8 } from 'node:buffer';
import { Utf8Check } from '../utf8-check.ts';
import { BINARY, CLOSE, CONTINUATION, lengthField, MASK_BYTES, mask, PING, PONG, TEXT } from './frames.ts';

/** What has come in whole. A message is in blocks: to join a large one takes long. */
export type Received =
  | { readonly kind: 'message'; readonly blocks: readonly Buffer[]; readonly isText: boolean }
  | { readonly kind: 'ping' | 'pong'; readonly bytes: Buffer }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string };

/** What comes cannot be taken: the other side broke the rules, or there is no room for it. @see RFC 6455, 7.4.1 */
export class FrameFault extends Error {
  readonly code: 1002 | 1007 | 1008 | 1009 | 1013;

  constructor(code: FrameFault['code']) {
    super(REASONS[code]);
    this.code = code;
  }
}

const REASONS = {
  1002: 'this is no WebSocket frame',
  1007: 'a text has to be in UTF-8',
  1008: 'the event did not arrive in time',
  1009: 'the event is too large',
  1013: 'there is no memory for a large event now: try again later',
} as const;

/** Messages are kept in blocks of at most so many bytes, so that what arrives is handled as it arrives. */
const BLOCK_BYTES = 65_536;
/** Fragments may be of a byte each: together they take no more than what is in them. */
const LEAST_BLOCK_BYTES = 4_096;
const MOST_CONTROL_BYTES = 125;
const NO_CODE = 1005;

interface Rules {
  /** Frames of clients have to be masked, and those of servers must not be. */
  readonly isMasked: boolean;
  readonly mostBytes: number;
}

/**
 * Reads the frames of one side of a connection. What comes is unmasked, validated and kept as it comes: a message of many megabytes never has to
 * be looked at as a whole, which would hold the event loop.
 */
export class FrameReader {
  readonly #rules: Rules;
  #head: Buffer = Buffer.alloc(0);
  #frame: { readonly opcode: number; readonly isLast: boolean; readonly length: number; readonly key: Buffer; read: number } | undefined;
  #message: Message | undefined;
  #control: Message | undefined;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** Of the message that has begun, bytes that have come. */
  get begun(): number {
    return this.#message?.length ?? 0;
  }

  /** Of the same, bytes at most: known once its last frame has begun. */
  get most(): number {
    const { isLast = false, opcode = CLOSE, length = 0, read = 0 } = this.#frame ?? {};
    return isLast && opcode < CLOSE ? this.begun + length - read : this.#rules.mostBytes;
  }

  /** @param bytes are changed: they are unmasked in place @throws FrameFault */
  *read(bytes: Buffer): Generator<Received> {
    for (let at = 0; at < bytes.length; ) {
      if (!this.#frame) at = this.#readHead(bytes, at);
      else {
        const to = Math.min(bytes.length, at + this.#frame.length - this.#frame.read);
        this.#take(bytes.subarray(at, to));
        at = to;
      }
      if (this.#isComplete()) yield* this.#endOfFrame();
    }
  }

  #isComplete(): boolean {
    return this.#frame !== undefined && this.#frame.read === this.#frame.length;
  }

  /** @returns where the payload begins, or the end of the bytes */
  #readHead(bytes: Buffer, from: number): number {
    const before = this.#head.length;
    // The longest head has 14 bytes.
    const head = before === 0 ? bytes.subarray(from, from + 14) : Buffer.concat([this.#head, bytes.subarray(from, from + 14)]);
    const [first, second] = head;
    const size = first === undefined || second === undefined ? Number.POSITIVE_INFINITY : sizeOfHead(second);
    if (first !== undefined && second !== undefined) this.#requireFrame(first, second);
    if (head.length < size) {
      this.#head = Buffer.from(head);
      return bytes.length;
    }
    this.#head = Buffer.alloc(0);
    this.#begin(head.subarray(0, size));
    return from + size - before;
  }

  /** @throws FrameFault of what the first two bytes say */
  #requireFrame(first: number, second: number): void {
    const [opcode, isLast, isMasked] = [first & 0x0f, first >= 0x80, second >= 0x80];
    // No extension was agreed on.
    if ((first & 0x70) !== 0 || isMasked !== this.#rules.isMasked) throw new FrameFault(1002);
    if (opcode === CLOSE || opcode === PING || opcode === PONG) {
      if (!isLast || (second & 0x7f) > MOST_CONTROL_BYTES) throw new FrameFault(1002);
      return;
    }
    if (opcode !== CONTINUATION && opcode !== TEXT && opcode !== BINARY) throw new FrameFault(1002);
    if ((opcode === CONTINUATION) !== (this.#message !== undefined)) throw new FrameFault(1002);
  }

  #begin(head: Buffer): void {
    const [first = 0, second = 0] = head;
    const { short, moreBytes } = lengthField(second);
    const length = moreBytes === 0 ? short : Number(moreBytes === 2 ? head.readUInt16BE(2) : head.readBigUInt64BE(2));
    const opcode = first & 0x0f;
    if (opcode < CLOSE) {
      this.#message ??= new Message(opcode === TEXT);
      if (this.#message.length + length > this.#rules.mostBytes) throw new FrameFault(1009);
    } else this.#control = new Message(false);
    this.#frame = { opcode, isLast: first >= 0x80, length, key: Buffer.from(head.subarray(2 + moreBytes)), read: 0 };
  }

  #take(bytes: Buffer): void {
    const frame = this.#frame;
    if (!frame) return;
    if (frame.key.length > 0) mask(bytes, frame.key, frame.read);
    const into = frame.opcode < CLOSE ? this.#message : this.#control;
    into?.add(bytes, frame.length - frame.read);
    frame.read += bytes.length;
  }

  *#endOfFrame(): Generator<Received> {
    const frame = this.#frame;
    this.#frame = undefined;
    if (!frame) return;
    if (frame.opcode >= CLOSE) {
      const bytes = Buffer.concat(this.#control?.end() ?? []);
      this.#control = undefined;
      yield frame.opcode === CLOSE ? endOf(bytes) : { kind: frame.opcode === PING ? 'ping' : 'pong', bytes };
    } else if (frame.isLast && this.#message) {
      const { isText } = this.#message;
      const blocks = this.#message.end();
      this.#message = undefined;
      yield { kind: 'message', blocks, isText };
    }
  }
}

const sizeOfHead = (second: number): number => 2 + lengthField(second).moreBytes + (second >= 0x80 ? MASK_BYTES : 0);

/** The payload of one frame or of several. */
class Message {
  readonly isText: boolean;
  readonly #utf8 = new Utf8Check();
  readonly #full: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #used = 0;
  length = 0;

  constructor(isText: boolean) {
    this.isText = isText;
  }

  /** @param expected as many bytes are to come, these among them @throws FrameFault */
  add(bytes: Buffer, expected: number): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#used === this.#block.length) {
        this.#endBlock();
        this.#block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, Math.max(expected - at, this.length === 0 ? 0 : LEAST_BLOCK_BYTES)));
      }
      const copied = bytes.copy(this.#block, this.#used, at);
      this.#used += copied;
      this.length += copied;
      at += copied;
    }
  }

  /** @throws FrameFault */
  end(): readonly Buffer[] {
    this.#endBlock();
    if (this.isText && !this.#utf8.end()) throw new FrameFault(1007);
    return this.#full;
  }

  #endBlock(): void {
    if (this.#used === 0) return;
    const block = this.#block.subarray(0, this.#used);
    if (this.isText && !this.#utf8.add(block)) throw new FrameFault(1007);
    this.#full.push(block);
    this.#used = 0;
  }
}

/** @throws FrameFault */
function endOf(bytes: Buffer): Received {
  if (bytes.length === 0) return { kind: 'close', code: NO_CODE, reason: '' };
  const code = bytes.length === 1 ? 0 : bytes.readUInt16BE(0);
  if (!isCode(code)) throw new FrameFault(1002);
  const reason = bytes.subarray(2);
  if (!isUtf8(reason)) throw new FrameFault(1007);
  return { kind: 'close', code, reason: reason.toString() };
}

/** Those that are sent, not those that only say what has happened. */
const isCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004 && code !== NO_CODE && code !== 1006) || (code >= 3000 && code <= 4999);
