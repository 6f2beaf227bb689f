import type { ModelList } from './generated/models.ts';
import { Models as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';

export interface ModelQuery {
  readonly all?: boolean;
}

/** `tallygate.models`: what can be asked, and what it costs. */
export class Models extends Generated {
  /** What can be asked, with prices: for a live key what it can be served now. `all` for the whole catalogue, models without a price too. */
  list({ all, ...options }: ModelQuery & CallOptions = {}): Call<ModelList> {
    return this.transport.json({ method: 'GET', path: '/v1/models', query: { all } }, options);
  }
}
