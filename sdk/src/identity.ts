import type {
  Accepted,
  AccountCloseRequest,
  CreateUserRequest,
  LoginMfaRequest,
  LoginMfaRequiredResponse,
  LoginRequest,
  PasswordChangeRequest,
  PasswordResetRequest,
  UserResponse,
  UserUpdateRequest,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { Transport } from './transport/transport.ts';

/** What registering takes beside the user: only a server that people register through has it. */
export interface CreateUserOptions extends CallOptions {
  readonly internalSecret: string;
}

/** `tallygate.identity`: who is calling, and their own account. */
export class Identity {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Registers a user with an account on the free plan, and sends the mail that confirms the address. For servers, which keep the secret. */
  createUser(request: CreateUserRequest, { internalSecret, ...options }: CreateUserOptions): Call<UserResponse> {
    const headers = { 'x-internal-secret': internalSecret };
    return this.#transport.json({ method: 'POST', path: '/v1/users', body: request, headers, isOnce: true }, options);
  }

  /** Answers with the user and a session token, or, where the user has a second factor, with a challenge for `loginMfa` (`mfa_required: true`). */
  login(request: LoginRequest, options?: CallOptions): Call<UserResponse | LoginMfaRequiredResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/users/login', body: request }, options);
  }

  /** Completes a login with a code from the authenticator app, or a recovery code; the challenge lives five minutes and takes five tries. */
  loginMfa(request: LoginMfaRequest, options?: CallOptions): Call<UserResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/users/login/mfa', body: request }, options);
  }

  /** Revokes the session token that this client carries. */
  logout(options?: CallOptions): Call<undefined> {
    return this.#transport.empty({ method: 'POST', path: '/v1/users/logout' }, options);
  }

  /** The profile of the user whose credential it is. */
  me(options?: CallOptions): Call<UserResponse> {
    return this.#transport.json({ method: 'GET', path: '/v1/users/me' }, options);
  }

  /** Changes the name at once; a new e-mail address needs the password, and takes effect with the link that is sent to it. */
  update(request: UserUpdateRequest, options?: CallOptions): Call<UserResponse> {
    return this.#transport.json({ method: 'PATCH', path: '/v1/users/me', body: request }, options);
  }

  /** Changes the password and ends every other session of the user. */
  changePassword(request: PasswordChangeRequest, options?: CallOptions): Call<undefined> {
    return this.#transport.empty({ method: 'POST', path: '/v1/users/me/password', body: request }, options);
  }

  /** Confirms an address, or completes its change, with the token of the mail. */
  verifyEmail(token: string, options?: CallOptions): Call<undefined> {
    return this.#transport.empty({ method: 'POST', path: '/v1/users/verify-email', body: { token } }, options);
  }

  /** Sends the confirmation mail again; the answer does not tell whether the address has an account. */
  resendVerification(email: string, options?: CallOptions): Call<Accepted> {
    return this.#transport.json({ method: 'POST', path: '/v1/users/verify-email/resend', body: { email } }, options);
  }

  /** Sends a mail that sets a new password; the answer does not tell whether the address has an account. */
  requestPasswordReset(email: string, options?: CallOptions): Call<Accepted> {
    return this.#transport.json({ method: 'POST', path: '/v1/users/password-reset', body: { email } }, options);
  }

  /** Sets a new password with the token of the mail, and ends every session of the user. */
  resetPassword(request: PasswordResetRequest, options?: CallOptions): Call<undefined> {
    return this.#transport.empty({ method: 'POST', path: '/v1/users/password-reset/confirm', body: request }, options);
  }

  /** Closes the account permanently: every key and session dies, the address is free again, usage and receipts stay. */
  close(request: AccountCloseRequest, options?: CallOptions): Call<undefined> {
    return this.#transport.empty({ method: 'POST', path: '/v1/users/me/close', body: request }, options);
  }
}
