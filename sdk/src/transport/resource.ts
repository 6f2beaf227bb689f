import type { Transport } from './transport.ts';

/** Operations on one kind of thing. The transport is hidden from code that prints or serialises a client. */
export class Resource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected get transport(): Transport {
    return this.#transport;
  }
}
