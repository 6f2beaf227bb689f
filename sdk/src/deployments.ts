import type { DeploymentHealthList } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.deployments`: the providers behind the models; for administrators. */
export class Deployments {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** How every deployment of every model is doing, as the process that answers sees it. */
  list(options?: CallOptions): Call<DeploymentHealthList> {
    return this.#transport.json({ method: 'GET', path: '/v1/admin/deployments' }, options);
  }
}
