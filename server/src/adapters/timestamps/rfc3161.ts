import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import { childAt, type DerValue, readDer, TAG, writeDer } from './der.ts';
import type { Timestamp, TimestampAuthority } from './port.ts';

/** For the whole answer, to its last byte. */
const TIMEOUT_MS = 10_000;
const MOST_BYTES = 64 * 1024;
/** 2.16.840.1.101.3.4.2.1, with no parameters. */
const SHA256 = Buffer.from('300d06096086480165030402010500', 'hex');
/** PKIStatus: granted, and granted with modifications. */
const GRANTED: readonly number[] = [0, 1];
const TIME = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\.\d+)?Z$/;

/** A time-stamping authority by RFC 3161 over HTTP. */
export const rfc3161Authority = (url: string, { timeoutMs = TIMEOUT_MS } = {}): TimestampAuthority => ({
  url,
  async stamp(digest, signal) {
    // Its first byte is neither 0 nor negative, so that it has one encoding of one length.
    const nonce = randomBytes(8);
    nonce[0] = ((nonce[0] ?? 0) & 0x3f) | 0x40;
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
      body: queryFor(digest, nonce),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const answer = await bytesOf(body);
    if (statusCode !== 200) throw new Error(`The authority answers with status ${statusCode}`);
    return timestampIn(answer, { digest, nonce });
  },
});

/** RFC 3161, section 2.4.1, with the wish to have the certificate in the token. */
const queryFor = (digest: Uint8Array, nonce: Buffer): Buffer =>
  writeDer(
    TAG.sequence,
    Buffer.of(TAG.integer, 1, 1),
    writeDer(TAG.sequence, SHA256, writeDer(TAG.octets, digest)),
    writeDer(TAG.integer, nonce),
    Buffer.of(0x01, 1, 0xff),
  );

/**
 * RFC 3161, section 2.4.2. What is looked at is that the token is for what was asked; its signature is for those to check who rely on it, with
 * the certificates that they trust.
 *
 * @throws Error for a refusal, RangeError for what is no such answer
 */
function timestampIn(answer: Buffer, { digest, nonce }: { readonly digest: Uint8Array; readonly nonce: Buffer }): Timestamp {
  const response = readDer(answer);
  const status = childAt(childAt(response, 0, TAG.sequence), 0, TAG.integer).content.readIntBE(0, 1);
  if (!GRANTED.includes(status)) throw new Error(`The authority refuses: PKI status ${status}`);
  const token = childAt(response, 1, TAG.sequence);
  const info = infoIn(token);
  const stamped = childAt(childAt(info, 2, TAG.sequence), 1, TAG.octets).content;
  if (!stamped.equals(digest)) throw new Error('The authority has stamped another hash');
  if (!info.content.includes(writeDer(TAG.integer, nonce))) throw new Error('The authority answers another query');
  const time = timeOf(childAt(info, 4, TAG.generalizedTime).content.toString('latin1'));
  return { token: Buffer.from(token.whole), time };
}

/** TSTInfo, which is in an octet string of SignedData (RFC 5652), which is in a ContentInfo. */
function infoIn(token: DerValue): DerValue {
  const signed = childAt(childAt(token, 1, TAG.context0), 0, TAG.sequence);
  const content = childAt(signed, 2, TAG.sequence);
  return readDer(childAt(childAt(content, 1, TAG.context0), 0, TAG.octets).content);
}

function timeOf(text: string): Date {
  const [, year, month, day, hour, minute, second, fraction = ''] = TIME.exec(text) ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}Z`);
  if (Number.isNaN(time.getTime())) throw new RangeError(`The authority names no time: ${JSON.stringify(text)}`);
  return time;
}

/** @throws for more than an answer may have */
async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`The answer has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
