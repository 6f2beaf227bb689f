import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import { type Operation, type Received, receivedJson } from '../../inference/calls/index.ts';
import { newPassingBlobKey, UNNAMED } from '../../inference/files/index.ts';
import { sha256Of } from '../../kernel/digest.ts';
import { INFERENCE_JSON } from '../../kernel/json-scan.ts';
import type { MemoryReservation } from '../../kernel/memory-reservation.ts';
import { Problem } from '../../kernel/problem.ts';
import { andThen } from '../../kernel/soon.ts';
import { type BodyLimits, LARGE_BYTES, readJsonBody } from './body.ts';
import { isMultipart, type MultipartLimits, readMultipart } from './multipart.ts';

export interface ReceivedBodyDeps {
  readonly bodyLimits: BodyLimits;
  readonly formLimits: MultipartLimits;
  readonly blobs: BlobStore;
}

/** The body of an inference request: its value as far as it is JSON or fields, and what it came as. */
export interface ReceivedBody {
  readonly value: unknown;
  /** How many values it consists of, where they were counted. */
  readonly values: number;
  readonly isForm: boolean;
  readonly received: Received;
  /** What makes a repeat of the request the same request. A client draws a new boundary for every form, so its bytes do not. */
  readonly fingerprint: () => Buffer;
  /** Deletes the unused files of a form; null where there are none. */
  readonly discard: (() => Promise<void>) | null;
}

/** @throws Problem as {@link readJsonBody} and {@link readMultipart} do; `unsupported_media_type` for a form where there is none */
export function readBody(
  { takes }: Operation,
  req: IncomingMessage,
  deps: ReceivedBodyDeps,
  reservation?: MemoryReservation,
): Promise<ReceivedBody> {
  if (takes === 'form' || (takes === 'json_or_form' && isMultipart(req))) return readForm(req, deps);
  return readJsonBody(req, deps.bodyLimits, INFERENCE_JSON, reservation).then(({ bytes, value, values }) => {
    const bodyOf = (received: Received): ReceivedBody => ({
      ...{ value, values, isForm: false, received, fingerprint: () => bytes, discard: null },
    });
    if (bytes.length <= LARGE_BYTES) return bodyOf(receivedJson(bytes));
    // Everyone who asks for it later gets it at once.
    return andThen(sha256Of(bytes), (sha256) => bodyOf(receivedJson(bytes, sha256)));
  });
}

async function readForm(req: IncomingMessage, { blobs, formLimits }: ReceivedBodyDeps): Promise<ReceivedBody> {
  const { fields, files, bodySha256, fingerprint, discard } = await readMultipart(req, {
    blobs,
    limits: formLimits,
    newBlobKey: newPassingBlobKey,
  });
  const received = files.map(({ field, filename, contentType, bytes, blobKey }) => ({
    field,
    filename: filename ?? UNNAMED,
    contentType,
    bytes,
    open: () => Readable.from(blobContent(blobs, blobKey), { objectMode: false }),
  }));
  return {
    value: fields,
    values: 0,
    isForm: true,
    fingerprint,
    received: { bytes: Buffer.alloc(0), files: received, sha256: () => bodySha256 },
    discard,
  };
}

async function* blobContent(blobs: BlobStore, key: string): AsyncGenerator<Uint8Array> {
  const blob = await blobs.get(key);
  if (!blob) throw new Problem('storage_unavailable', 'A file of the request is gone: repeat the request.', { retryAfterSeconds: 1 });
  yield* blob.stream;
}
