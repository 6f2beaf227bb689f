import type {
  ClientRequestCreateRequest,
  ClientRequestReceivedResponse,
  MarketingClientRequestListResponse,
  MarketingClientRequestRecord,
  MarketingClientRequestUpdateRequest,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** Which requests. */
export interface ClientRequestQuery extends PageQuery {
  /** `new`, `in_progress`, `waiting`, `done` or `declined`. */
  readonly status?: string | undefined;
  /** `sales`, `enterprise`, `support`, `partnership`, `press` or `other`. */
  readonly type?: string | undefined;
}

/** `tallygate.clientRequests`: what clients ask of the team. All but `create` needs the role `marketing`. */
export class ClientRequests {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Asks the team for something, as a contact form does. Needs no credential; a mail confirms it. */
  create(request: ClientRequestCreateRequest, options?: CallOptions): Call<ClientRequestReceivedResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/client-requests', body: request }, options);
  }

  /** Requests with their history, the newest first. */
  list(query?: ClientRequestQuery, options?: CallOptions): PagedCall<MarketingClientRequestListResponse, MarketingClientRequestRecord> {
    return this.#transport.pages({ path: '/v1/marketing/client-requests', query: { ...query } }, ({ request_id }) => request_id, options);
  }

  /** Moves it on, gives it an owner, adds a note. Rejects with a `ConflictError` for a step that makes no sense. */
  update(requestId: string, request: MarketingClientRequestUpdateRequest, options?: CallOptions): Call<MarketingClientRequestRecord> {
    const path = `/v1/marketing/client-requests/${pathStep(requestId)}`;
    return this.#transport.json({ method: 'PATCH', path, body: request }, options);
  }
}
