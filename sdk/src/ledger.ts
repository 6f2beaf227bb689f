import type {
  CorrectionRequest,
  CorrectionResponse,
  UsageQuery as QueryText,
  RefundRequest,
  RefundResponse,
  RequestTrace,
  UsageResponse,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** Which usage, and how it is summed up. Days are `YYYY-MM-DD`, UTC, both included. */
export interface UsageQuery extends Omit<QueryText, 'livemode'> {
  /** Live or test usage. Default: the mode of the API key that asks; live for sessions. */
  livemode?: boolean | undefined;
}

/** `tallygate.usage`: what was consumed and what it cost. */
export class Usage {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sums of settled requests by day, model, key or run. Current to within a second or so. */
  get(query?: UsageQuery, options?: CallOptions): Call<UsageResponse> {
    return this.#transport.json({ method: 'GET', path: '/v1/usage', query: { ...query } }, options);
  }
}

/** `tallygate.requests`: what happened to one request. */
export class Requests {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Gives back what a request of any account cost, once; for administrators. Asked again, it answers the refund that was made. */
  refund(refund: RefundRequest, options?: CallOptions): Call<RefundResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/admin/refunds', body: refund }, options);
  }

  /**
   * Says what a request of any account really used, once; for administrators. Its cost follows at the prices of the request, and the difference
   * moves in either direction. Asked again with the same usage, it answers the correction that was made; with other usage it is a conflict.
   */
  correct(correction: CorrectionRequest, options?: CallOptions): Call<CorrectionResponse> {
    return this.#transport.json({ method: 'POST', path: '/v1/admin/corrections', body: correction }, options);
  }

  /** Attempts, times and money of one request; no prompt, no answer. */
  get(requestId: string, options?: CallOptions): Call<RequestTrace> {
    return this.#transport.json({ method: 'GET', path: `/v1/requests/${pathStep(requestId)}` }, options);
  }
}
