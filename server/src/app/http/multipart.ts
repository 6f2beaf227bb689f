import type { IncomingMessage } from 'node:http';
import type { BlobStore } from '../../adapters/blobs/port.ts';
import { Problem } from '../../kernel/problem.ts';
import { discardRest, Incoming, type IncomingLimits } from './incoming.ts';
import { parseDisposition } from './multipart/disposition.ts';
import { FormFields } from './multipart/form-fields.ts';
import { MalformedMultipart, type Part, partsOf } from './multipart/parts.ts';

export interface MultipartLimits extends IncomingLimits {
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  readonly maxFields: number;
  readonly maxFieldBytes: number;
}

export interface MultipartOptions {
  readonly limits: MultipartLimits;
  readonly blobs: BlobStore;
  /** A fresh key for each file; what becomes of the blob is the caller's, once the form is read. */
  readonly newBlobKey: () => string;
}

/** A file of the form, whole in the blob store. */
export interface UploadedFile {
  /** Without brackets: `image[]` is `image`. */
  readonly field: string;
  /** A bare name, without folders and control characters; null where the client gave none. */
  readonly filename: string | null;
  /** Of the part, as the client says: lower case, without parameters. */
  readonly contentType: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  readonly blobKey: string;
}

export interface MultipartForm {
  /** All values are texts, in arrays and objects where brackets say so. */
  readonly fields: Record<string, unknown>;
  /** In the order in which they came. */
  readonly files: readonly UploadedFile[];
  /** Of the body as it was received, in hex. */
  readonly bodySha256: string;
  /** What the form says and not how it is written: clients draw a new boundary for every attempt. */
  fingerprint(): Buffer;
  /** Length of the body as it was received. */
  readonly bytes: number;
  /** Deletes the blobs of the files. What cannot be deleted is left to the sweeper of orphans. */
  discard(): Promise<void>;
}

const MULTIPART = /^multipart\/form-data\s*(?:;|$)/i;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i;
/** RFC 2046, section 5.1.1. */
const WELL_FORMED_BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;
const PLAIN_ENCODINGS = new Set(['7bit', '8bit', 'binary']);

/** Whether a request says that its body is a form. */
export const isMultipart = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean => MULTIPART.test(headers['content-type'] ?? '');

/**
 * Reads a form, its files straight into the blob store: of a file there is never more in memory than a chunk. When it throws, nothing of the
 * form is left there.
 *
 * @throws Problem `unsupported_media_type`, `malformed_multipart`, `payload_too_large`, `request_timeout`, `validation_failed` (a field
 * twice, or two kinds of thing), `storage_unavailable`
 */
export async function readMultipart(request: IncomingMessage, { limits, blobs, newBlobKey }: MultipartOptions): Promise<MultipartForm> {
  const incoming = new Incoming(request, limits);
  const fields = new FormFields();
  const files: UploadedFile[] = [];
  const discard = async () => void (await Promise.allSettled(files.map(({ blobKey }) => blobs.delete(blobKey))));
  let fieldCount = 0;
  try {
    for await (const part of partsOf(incoming, boundaryOf(request))) {
      refuseEncoded(part);
      const { name, filename } = parseDisposition(part.headers.get('content-disposition'));
      const contentType = mediaTypeOf(part);
      if (filename === undefined && contentType !== 'application/octet-stream') {
        if (++fieldCount > limits.maxFields) throw tooMany('fields', limits.maxFields);
        fields.add(name, await readText(part.content, name, limits.maxFieldBytes));
        continue;
      }
      if (files.length === limits.maxFiles) throw tooMany('files', limits.maxFiles);
      const blobKey = newBlobKey();
      const stored = await store(part.content, blobKey, blobs, limits.maxFileBytes);
      files.push({ field: name.replace(/\[\]$/, ''), filename: filename ?? null, contentType, ...stored, blobKey });
    }
  } catch (error) {
    discardRest(request);
    await discard();
    throw error instanceof MalformedMultipart
      ? new Problem('malformed_multipart', `The body ${error.message}: send it again as multipart/form-data.`, { cause: error })
      : error;
  }
  const said = files.map(({ field, filename, contentType, sha256 }) => [field, filename, contentType, sha256]);
  return {
    fields: fields.value,
    files,
    bodySha256: incoming.sha256(),
    fingerprint: () => Buffer.from(JSON.stringify([fields.value, said])),
    bytes: incoming.bytes,
    discard,
  };
}

async function store(content: AsyncIterable<Uint8Array>, key: string, blobs: BlobStore, maxBytes: number) {
  const outcome = await blobs.put(key, content, { maxBytes }).catch((cause: unknown) => {
    // What the content itself throws comes out of the put as it is; everything else is the store's.
    if (cause instanceof Problem || cause instanceof MalformedMultipart) throw cause;
    throw new Problem('storage_unavailable', 'Files cannot be stored at the moment: repeat the request later.', {
      retryAfterSeconds: 30,
      cause,
    });
  });
  if (!outcome.stored) throw new Problem('payload_too_large', `A file is larger than the ${maxBytes} bytes that this endpoint accepts.`);
  return { bytes: outcome.size, sha256: outcome.sha256 };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

async function readText(content: AsyncIterable<Uint8Array>, name: string, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new Problem('payload_too_large', `The field ${name.slice(0, 100)} is longer than ${maxBytes} bytes.`);
    pieces.push(piece);
  }
  try {
    return utf8.decode(Buffer.concat(pieces, bytes));
  } catch (cause) {
    throw new MalformedMultipart('has a text field that is not UTF-8', { cause });
  }
}

/** @throws Problem `unsupported_media_type`, `malformed_multipart` */
function boundaryOf(request: IncomingMessage): string {
  if (!isMultipart(request)) throw new Problem('unsupported_media_type', 'Send the body as Content-Type: multipart/form-data.');
  const coding = request.headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity')
    throw new Problem('unsupported_media_type', `Send the body without Content-Encoding (${coding.slice(0, 40)}).`);
  const [, quoted, bare] = BOUNDARY.exec(request.headers['content-type'] ?? '') ?? [];
  const boundary = quoted ?? bare ?? '';
  if (!WELL_FORMED_BOUNDARY.test(boundary))
    throw new Problem('malformed_multipart', 'The Content-Type of the body names no boundary: let your HTTP client set this header.');
  return boundary;
}

/** RFC 7578, section 4.7, is done with transfer encodings; storing their text for the file would be worse than refusing it. */
function refuseEncoded({ headers }: Part): void {
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase() ?? 'binary';
  if (!PLAIN_ENCODINGS.has(encoding))
    throw new Problem('unsupported_media_type', `Send the parts without Content-Transfer-Encoding (${encoding.slice(0, 40)}).`);
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

function mediaTypeOf({ headers }: Part): string {
  const given = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (MEDIA_TYPE.test(given)) return given;
  return given === '' ? 'text/plain' : 'application/octet-stream';
}

const tooMany = (what: 'files' | 'fields', most: number): Problem =>
  new Problem('payload_too_large', `The form has more ${what} than this endpoint accepts, which is ${most}.`);
