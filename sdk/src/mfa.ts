import type { MfaBeginResponse, MfaDisableRequest, MfaStatusResponse, MfaVerifyRequest } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.mfa`: the second factor of the user behind the credential. */
export class Mfa {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Whether a login needs a second factor, and how many recovery codes are left. */
  status(options?: CallOptions): Call<MfaStatusResponse> {
    return this.#transport.json({ method: 'GET', path: '/v1/users/mfa/status' }, options);
  }

  /** Makes a secret for an authenticator app; logins stay as they are until `confirm`. */
  begin(options?: CallOptions): Call<MfaBeginResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/users/mfa/begin' }, options);
  }

  /** Switches the second factor on with the password and a code from the app, and ends the user's other sessions; ten recovery codes are in this answer and nowhere else. */
  confirm(request: MfaVerifyRequest, options?: CallOptions): Call<MfaStatusResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/users/mfa/confirm', body: request }, options);
  }

  /** Switches the second factor off; its secret and all recovery codes are deleted. */
  disable(request: MfaDisableRequest, options?: CallOptions): Call<MfaStatusResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/users/mfa/disable', body: request }, options);
  }

  /** For administrators: removes another user's second factor and ends their sessions; a mail tells them. */
  reset(userId: string, options?: CallOptions): Call<undefined> {
    return this.#transport.empty({ method: 'DELETE', path: `/v1/admin/users/${pathStep(userId)}/mfa` }, options);
  }
}
