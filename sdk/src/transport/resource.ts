import type { Transport } from './transport.ts';

/** Operations on one kind of thing. The way to the gateway is out of sight of whatever prints or serialises a client. */
export class Resource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected get transport(): Transport {
    return this.#transport;
  }
}
