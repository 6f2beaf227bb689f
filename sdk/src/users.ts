import type { Role, UserListResponse, UserResponse } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

export interface UserQuery extends PageQuery {
  /** Only who has this role. */
  readonly role?: Role;
  /** Only whose address this is. */
  readonly email?: string;
}

/** `tallygate.users`: everybody at the gateway and what they may administer; for administrators. */
export class Users {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Users, the newest first; by role or e-mail address. */
  list(query?: UserQuery, options?: CallOptions): PagedCall<UserListResponse, UserResponse> {
    return this.#transport.pages({ path: '/v1/admin/users', query: { ...query } }, ({ user_id }) => user_id, options);
  }

  /** Gives another user a role, from their next request on; a mail tells them. */
  setRole(userId: string, role: Role, options?: CallOptions): Call<UserResponse> {
    return this.#transport.json({ method: 'PUT', path: `/v1/admin/users/${pathStep(userId)}/role`, body: { role } }, options);
  }
}
