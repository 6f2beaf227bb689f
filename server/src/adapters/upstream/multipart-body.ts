import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { UpstreamFile } from './port.ts';

type Fields = Readonly<Record<string, unknown>>;

interface FormPart {
  /** The part's header block, blank line included. */
  readonly head: Buffer;
  readonly bytes: number;
  open(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

const CRLF = '\r\n';

/** Fields and files as multipart/form-data (RFC 7578) of a known length, read from their source as the connection takes them. */
export function multipartBody(
  fields: Fields,
  files: readonly UpstreamFile[],
): { contentType: string; contentLength: number; body: Readable } {
  const boundary = `tallygate-${randomBytes(16).toString('hex')}`;
  const parts = [...textParts(fields, boundary), ...files.map((file) => filePart(file, boundary))];
  const close = Buffer.from(`--${boundary}--${CRLF}`);
  const contentLength = parts.reduce((sum, { head, bytes }) => sum + head.length + bytes + CRLF.length, close.length);
  async function* written() {
    for (const part of parts) {
      yield part.head;
      yield* part.open();
      yield Buffer.from(CRLF);
    }
    yield close;
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, contentLength, body: Readable.from(written(), { objectMode: false }) };
}

function* textParts(fields: Fields, boundary: string): Generator<FormPart> {
  for (const [name, text] of Object.entries(fields).flatMap(([name, value]) => [...entriesOf(name, value)])) {
    const bytes = Buffer.from(text);
    yield { head: headOf(boundary, `name="${escaped(name)}"`), bytes: bytes.length, open: () => [bytes] };
  }
}

/** OpenAI's encoding of what is no text: `include[]=a`, `expires_after[anchor]=created_at`. */
function* entriesOf(name: string, value: unknown): Generator<readonly [string, string]> {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) for (const one of value) yield* entriesOf(`${name}[]`, one);
  else if (typeof value === 'object') for (const [key, one] of Object.entries(value)) yield* entriesOf(`${name}[${key}]`, one);
  else yield [name, String(value)];
}

function filePart({ field, filename, contentType, bytes, open }: UpstreamFile, boundary: string): FormPart {
  const disposition = `name="${escaped(field)}"; filename="${escaped(filename)}"`;
  return { head: headOf(boundary, disposition, contentType), bytes, open };
}

const headOf = (boundary: string, disposition: string, contentType?: string): Buffer =>
  Buffer.from(
    `--${boundary}${CRLF}Content-Disposition: form-data; ${disposition}${CRLF}${contentType === undefined ? '' : `Content-Type: ${contentType}${CRLF}`}${CRLF}`,
  );

/** As browsers do it (WHATWG HTML, multipart form data): a name can neither end its quotes nor its line. */
const escaped = (name: string): string =>
  name.replace(/["\r\n]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
