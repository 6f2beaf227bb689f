import { crc32 } from 'node:zlib';
import type { Fields } from '../fields.ts';

/** One message of `application/vnd.amazon.eventstream`: lengths, their checksum, headers, payload, checksum of all. */
export function framed(headers: Readonly<Record<string, string>>, payload: string | Uint8Array): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(12 + head.length + body.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  const all = Buffer.concat([prelude, checksum(prelude), head, body]);
  return Buffer.concat([all, checksum(all)]);
}

/** An event of a stream, its JSON written down or given. */
export const frame = (name: string, event: Fields | string): Buffer =>
  framed(
    { ':event-type': name, ':content-type': 'application/json', ':message-type': 'event' },
    typeof event === 'string' ? event : JSON.stringify(event),
  );

/** What ends a stream in place of its rest. */
export const exceptionFrame = (name: string, exception: Fields): Buffer =>
  framed({ ':exception-type': name, ':content-type': 'application/json', ':message-type': 'exception' }, JSON.stringify(exception));

const TYPE_STRING = 7;

function header(name: string, value: string): Buffer {
  const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([TYPE_STRING]), length, valueBytes]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
