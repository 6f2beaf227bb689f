import type { Model, ModelList, PriceList } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.models`: what can be asked, and what it costs. */
export class Models {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The whole catalogue with prices. */
  list(options?: CallOptions): Call<ModelList> {
    return this.#transport.json({ method: 'GET', path: '/v1/models' }, options);
  }

  /** Every price that was, is or will be charged, with its version and first day; needs no credential. */
  prices(options?: CallOptions): Call<PriceList> {
    return this.#transport.json({ method: 'GET', path: '/v1/prices' }, options);
  }

  /** One model with its prices. */
  get(model: string, options?: CallOptions): Call<Model> {
    return this.#transport.json({ method: 'GET', path: `/v1/models/${pathStep(model)}` }, options);
  }
}
