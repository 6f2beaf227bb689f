import type { Health, ServiceStatus } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.discovery`: what is at the address, and whether it serves. */
export class Discovery {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Names the service, its version and where its documentation is. */
  status(options?: CallOptions): Call<ServiceStatus> {
    return this.#transport.json({ method: 'GET', path: '/' }, options);
  }

  /** Answers as long as the process can. */
  live(options?: CallOptions): Call<Health> {
    return this.#transport.json({ method: 'GET', path: '/health/live' }, options);
  }

  /** Answers when the instance takes requests; while it drains, or misses what it needs, a `ServerError` with status 503 is thrown. */
  ready(options?: CallOptions): Call<Health> {
    return this.#transport.json({ method: 'GET', path: '/health/ready' }, options);
  }
}
