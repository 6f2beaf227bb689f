import { deserialize, serialize } from 'node:v8';

const LENGTH_BYTES = 4;

/** A value on its way to another process of the same program: its length, then the value as V8 clones it, big integers included. */
export function frameOf(value: unknown): Buffer {
  const body = serialize(value);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + body.length);
  frame.writeUInt32LE(body.length);
  body.copy(frame, LENGTH_BYTES);
  return frame;
}

/** Puts frames together again, however a stream has cut them. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The values that are whole by now, in order. */
  *take(bytes: Buffer): Iterable<unknown> {
    const whole = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (at + LENGTH_BYTES <= whole.length) {
      const end = at + LENGTH_BYTES + whole.readUInt32LE(at);
      if (end > whole.length) break;
      yield deserialize(whole.subarray(at + LENGTH_BYTES, end));
      at = end;
    }
    this.#rest = whole.subarray(at);
  }
}
