import type { CreateKeyRequest, KeyCreatedResponse, KeyResponse, RotateKeyRequest, UpdateKeyRequest } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.keys`: API keys of the account. */
export class Keys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes a key. Its secret is in this answer and nowhere else. Needs a session: an API key cannot make API keys. */
  create(request: CreateKeyRequest, options?: CallOptions): Call<KeyCreatedResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/keys', body: request, isOnce: true }, options);
  }

  /** Every key of the account, revoked ones included, newest first. */
  list(options?: CallOptions): Call<KeyResponse[]> {
    return this.#transport.json({ method: 'GET', path: '/v1/keys' }, options);
  }

  /** One key of the account, revoked or not; never its secret. */
  get(keyId: string, options?: CallOptions): Call<KeyResponse> {
    return this.#transport.json({ method: 'GET', path: keyPath(keyId) }, options);
  }

  /** Changes what is given: name, scopes, expiry, models, endpoints, rate limits, notes, signing key. In force when this resolves; elsewhere within a second. */
  update(keyId: string, request: UpdateKeyRequest, options?: CallOptions): Call<KeyResponse> {
    return this.#transport.json({ method: 'PATCH', path: keyPath(keyId), body: request }, options);
  }

  /** The key stops working everywhere within a second. Revoking a revoked key changes nothing. */
  revoke(keyId: string, options?: CallOptions): Call<undefined> {
    return this.#transport.empty({ method: 'DELETE', path: keyPath(keyId) }, options);
  }

  /** Replaces the secret; id, name, cap and history stay. The old secret dies at once, or after `grace_seconds`. */
  rotate(keyId: string, request?: RotateKeyRequest, options?: CallOptions): Call<KeyCreatedResponse> {
    return this.#transport.json({ method: 'POST', path: `${keyPath(keyId)}/rotate`, body: request, isOnce: true }, options);
  }
}

const keyPath = (keyId: string): string => `/v1/keys/${pathStep(keyId)}`;
