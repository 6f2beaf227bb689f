import type { DiscoveryReport, Model, ModelDefinition, ModelList, ModelPrice, PriceInput, PriceList } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

export interface ModelQuery {
  readonly all?: boolean;
}

/** `tallygate.models`: what can be asked, and what it costs. */
export class Models {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** What can be asked, with prices: for a live key what it can be served now. `all` for the whole catalogue, models without a price too. */
  list({ all, ...options }: ModelQuery & CallOptions = {}): Call<ModelList> {
    return this.#transport.json({ method: 'GET', path: '/v1/models', query: { all } }, options);
  }

  /** Every price that was, is or will be charged, with its version and first day; needs no credential. */
  prices(options?: CallOptions): Call<PriceList> {
    return this.#transport.json({ method: 'GET', path: '/v1/prices' }, options);
  }

  /** One model with its prices. */
  get(model: string, options?: CallOptions): Call<Model> {
    return this.#transport.json({ method: 'GET', path: `/v1/models/${pathStep(model)}` }, options);
  }

  /** Defines a model of one’s own, or a known one anew, on every gateway within a second; for administrators. */
  define(model: string, definition: ModelDefinition, options?: CallOptions): Call<Model> {
    return this.#transport.json({ method: 'PUT', path: `/v1/admin/models/${pathStep(model)}`, body: definition }, options);
  }

  /** Sets what a model costs from now on, or from a later moment; for administrators. No price is edited or dated back. */
  setPrice(model: string, price: PriceInput, options?: CallOptions): Call<ModelPrice> {
    return this.#transport.json({ method: 'POST', path: `/v1/admin/models/${pathStep(model)}/prices`, body: price }, options);
  }

  /** Takes back what an administrator has defined of a model; its prices stay published. For administrators. */
  remove(model: string, options?: CallOptions): Call<undefined> {
    return this.#transport.empty({ method: 'DELETE', path: `/v1/admin/models/${pathStep(model)}` }, options);
  }

  /** Asks the providers which models they serve; for administrators. */
  discover(options?: CallOptions): Call<DiscoveryReport> {
    return this.#transport.json({ method: 'POST', path: '/v1/admin/models/discover' }, options);
  }
}
