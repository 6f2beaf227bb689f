import type {
  BetaInviteActivateRequest,
  BetaInviteActivationResponse,
  MarketingInviteBatchListResponse,
  MarketingInviteBatchRequest,
  MarketingInviteBatchResponse,
  MarketingInviteListResponse,
  MarketingInviteRecord,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

const BATCHES = '/v1/events/admin/invite-batches';

/** `tallygate.invites`: invitations to the beta. All but `activate` needs the role `admin`. */
export class Invites {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Activates an invitation. Needs no credential; repeated with the same address it answers the same. */
  activate(request: BetaInviteActivateRequest, options?: CallOptions): Call<BetaInviteActivationResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/beta/invite/activate', body: request }, options);
  }

  /** Invites people by mail, or makes a code to be given away, which is in this answer and nowhere else. */
  createBatch(request: MarketingInviteBatchRequest, options?: CallOptions): Call<MarketingInviteBatchResponse> {
    return this.#transport.json({ method: 'POST', path: BATCHES, body: request, isOnce: true }, options);
  }

  /** Every batch with its progress, the newest first. */
  listBatches(query?: PageQuery, options?: CallOptions): PagedCall<MarketingInviteBatchListResponse, MarketingInviteBatchResponse> {
    return this.#transport.pages({ path: BATCHES, query: { ...query } }, ({ batch_id }) => batch_id, options);
  }

  /** How far a batch is. */
  getBatch(batchId: string, options?: CallOptions): Call<MarketingInviteBatchResponse> {
    return this.#transport.json({ method: 'GET', path: batchPath(batchId) }, options);
  }

  /** The invitations of a batch, in the order in which they are mailed. */
  list(batchId: string, query?: PageQuery, options?: CallOptions): PagedCall<MarketingInviteListResponse, MarketingInviteRecord> {
    return this.#transport.pages({ path: `${batchPath(batchId)}/invites`, query: { ...query } }, ({ invite_id }) => invite_id, options);
  }

  /** Ends all that was not activated, and all that was not mailed. Twice is as good as once. */
  revokeBatch(batchId: string, options?: CallOptions): Call<MarketingInviteBatchResponse> {
    return this.#transport.json({ method: 'POST', path: `${batchPath(batchId)}/revoke` }, options);
  }

  /** Ends one invitation. Twice is as good as once. */
  revoke(batchId: string, inviteId: string, options?: CallOptions): Call<MarketingInviteRecord> {
    const path = `${batchPath(batchId)}/invites/${pathStep(inviteId)}/revoke`;
    return this.#transport.json({ method: 'POST', path }, options);
  }
}

const batchPath = (batchId: string): string => `${BATCHES}/${pathStep(batchId)}`;
