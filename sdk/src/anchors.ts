import type { AnchorListResponse, AnchorResponse, AnchorState } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** Which anchors. */
export interface AnchorQuery extends PageQuery {
  /** Only those of this chain (EIP-155). */
  readonly chain_id?: number | undefined;
  readonly state?: AnchorState | undefined;
}

/** `tallygate.anchors`: the states of the receipts' log that are on public chains. Reading them needs no credential. */
export class Anchors {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The newest first. */
  list(query?: AnchorQuery, options?: CallOptions): PagedCall<AnchorListResponse, AnchorResponse> {
    return this.#transport.pages({ path: '/v1/anchors', query: { ...query } }, ({ id }) => id, options);
  }

  get(anchorId: string, options?: CallOptions): Call<AnchorResponse> {
    return this.#transport.json({ method: 'GET', path: `/v1/anchors/${pathStep(anchorId)}` }, options);
  }
}
