import type { SessionListResponse, SessionResponse } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.sessions`: where the user is signed in. */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Live sessions, the last used first. */
  list(query?: PageQuery, options?: CallOptions): PagedCall<SessionListResponse, SessionResponse> {
    const operation = { path: '/v1/users/me/sessions', query: { ...query } };
    return this.#transport.pages(operation, ({ session_id }) => session_id, options);
  }

  /** The session's token stops working at once; revoking an ended session changes nothing. */
  revoke(sessionId: string, options?: CallOptions): Call<undefined> {
    return this.#transport.empty({ method: 'DELETE', path: `/v1/users/me/sessions/${pathStep(sessionId)}` }, options);
  }
}
