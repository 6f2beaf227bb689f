import { ConnectionError, TallygateError, TimeoutError } from './errors.ts';
import type { DeviceLoginResponse, DeviceTokenRequest, UserResponse } from './generated/models.ts';
import { DeviceLogins as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { sleep } from './transport/deadline.ts';

/** `tallygate.deviceLogins`: logins of programs that a person approves in a browser (RFC 8628). */
export class DeviceLogins extends Generated {
  /** Asks once for the session; throws `authorization_pending`, `slow_down`, `access_denied` or `expired_token` where there is none. */
  token(request: DeviceTokenRequest, options?: CallOptions): Call<UserResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/login/device/token', body: request }, { maxRetries: 0, ...options });
  }

  /** Asks as often as the service allows until the person has decided; throws `access_denied` or `expired_token` where that was in vain. */
  async wait({ device_code, interval, expires_in }: DeviceLoginResponse, options: CallOptions = {}): Promise<UserResponse> {
    const endMs = Date.now() + expires_in * 1000;
    for (let seconds = interval; ; ) {
      await sleep(seconds * 1000, options.signal);
      try {
        return await this.token({ device_code }, options);
      } catch (error) {
        // A network that is away for a moment loses nothing: the codes live on.
        if (!isUndecided(error) && !(isUnanswered(error) && Date.now() < endMs)) throw error;
        seconds = (error instanceof TallygateError ? error.retryAfterSeconds : undefined) ?? seconds;
      }
    }
  }
}

const isUndecided = (error: unknown): boolean =>
  error instanceof TallygateError && (error.code === 'authorization_pending' || error.code === 'slow_down');
const isUnanswered = (error: unknown): boolean => error instanceof ConnectionError || error instanceof TimeoutError;
