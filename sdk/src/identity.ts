import type { CreateUserRequest, UserResponse } from './generated/models.ts';
import { Identity as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';

/** What registering takes beside the user: only a server that people register through has it. */
export interface CreateUserOptions extends CallOptions {
  readonly internalSecret: string;
}

/** `tallygate.identity`: who is calling, and their own account. */
export class Identity extends Generated {
  /** Registers a user with an account on the free plan, and sends the mail that confirms the address. For servers, which keep the secret. */
  createUser(request: CreateUserRequest, { internalSecret, ...options }: CreateUserOptions): Call<UserResponse> {
    const headers = { 'x-internal-secret': internalSecret };
    return this.transport.json({ method: 'POST', path: '/v1/users', body: request, headers, isOnce: true }, options);
  }
}
