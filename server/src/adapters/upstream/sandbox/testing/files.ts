import { Readable } from 'node:stream';
import type { UpstreamFile } from '../../port.ts';

/** A file of a form, in memory. */
export const fileOf = (field: string, bytes: Buffer, filename = 'file', contentType = 'application/octet-stream'): UpstreamFile => ({
  field,
  filename,
  contentType,
  bytes: bytes.length,
  open: () => Readable.from(bytes.length > 10 ? [bytes.subarray(0, 10), bytes.subarray(10)] : [bytes]),
});
