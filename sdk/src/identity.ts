import type { LoginMfaRequiredResponse, LoginRequest, UserResponse } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.identity`: who is calling. */
export class Identity {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Answers with the user and a session token, or, where the user has a second factor, with a challenge (`mfa_required: true`). */
  login(request: LoginRequest, options?: CallOptions): Call<UserResponse | LoginMfaRequiredResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/users/login', body: request }, options);
  }

  /** Revokes the session token that this client carries. */
  logout(options?: CallOptions): Call<undefined> {
    return this.#transport.json({ method: 'POST', path: '/v1/users/logout' }, options);
  }

  /** The profile of whoever owns the credential. */
  me(options?: CallOptions): Call<UserResponse> {
    return this.#transport.json({ method: 'GET', path: '/v1/users/me' }, options);
  }
}
