import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Problem } from '../../kernel/problem.ts';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** What the body is encoded in; undefined where it is as it says. */
export function codingOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  return coding === 'identity' ? undefined : coding;
}

/** A body without its coding. */
export interface Decoded {
  readonly stream: Readable;
  /** Nothing more of it is wanted. */
  stop(): void;
}

/**
 * How much comes out is for the reader to bound; what goes in is bounded here, since a coding may well take much and give nothing.
 *
 * @param refuse told once of a body that is not what its coding says, or larger encoded than it may be decoded
 * @throws Problem `unsupported_media_type`
 */
export function decodedBody(request: IncomingMessage, maxBytes: number, refuse: (problem: Problem) => void): Decoded {
  const coding = codingOf(request);
  if (coding === undefined) return { stream: request, stop: () => {} };
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding]?.() : undefined;
  if (!decoder)
    throw new Problem(
      'unsupported_media_type',
      `Send the body in gzip, deflate or br, or without Content-Encoding (${coding.slice(0, 40)}).`,
    );
  // The caller signs what is sent (RFC 9530), and the receipt says the digest of what is meant: one body cannot be both.
  if (request.headers['signature'] !== undefined)
    throw new Problem('unsupported_media_type', 'A signed request is sent without Content-Encoding.');
  let taken = 0;
  const count = (chunk: Buffer) => {
    taken += chunk.length;
    if (taken > maxBytes)
      refuse(new Problem('payload_too_large', `The body is larger than the ${maxBytes} bytes that this endpoint accepts.`));
  };
  decoder.on('error', () => refuse(new Problem('malformed_json', `The body is not valid ${coding}: encode it anew.`)));
  request.on('data', count).pipe(decoder);
  return {
    stream: decoder,
    stop() {
      request.off('data', count).unpipe(decoder);
      decoder.destroy();
    },
  };
}
