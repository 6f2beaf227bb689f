import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import { sha256Of } from '../../../kernel/digest.ts';
import type { Credentials } from './credentials.ts';

export interface SignableRequest {
  readonly method: 'POST';
  /** As it is sent, from the root. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The headers of a request, with those that sign it. */
export type Signer = (request: SignableRequest, credentials: Credentials) => Promise<Readonly<Record<string, string>>>;

type Data = string | ArrayBuffer | ArrayBufferView;
const bytesOf = (data: Data): string | Uint8Array =>
  typeof data === 'string'
    ? data
    : ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);

/** Node's SHA-256 as AWS's signer takes it. */
class Sha256 {
  readonly #secret: Data | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#secret = secret;
    this.#hash = this.#begun();
  }

  update(data: Data): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#begun();
  }

  #begun(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(this.#secret));
  }
}

/** AWS's own signer (Signature Version 4), of requests to one endpoint. */
export async function signerFor({ baseUrl, region, clock }: { baseUrl: string; region: string; clock: Clock }): Promise<Signer> {
  const { SignatureV4 } = await import('./aws-signing.ts');
  const { protocol, host, hostname } = new URL(baseUrl);
  return async ({ method, path, headers, body }, credentials) => {
    const signer = new SignatureV4({ credentials, region, service: 'bedrock', sha256: Sha256 });
    // Calculated here, since a large body is to be hashed in pieces. The signer takes it from its header.
    const digest = await sha256Of(body);
    const request = { method, protocol, hostname, path, query: {}, headers: { ...headers, host, 'x-amz-content-sha256': digest } };
    const { host: _, ...signed } = (await signer.sign(request, { signingDate: new Date(clock.now()) })).headers;
    return signed;
  };
}
