import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut, or stalled, and opened again, at an address that stays. */
export class CutOff {
  readonly url: string;
  readonly #server: Server;
  /** Each end with the other one. */
  readonly #sockets = new Map<Socket, Socket>();
  /** What the server knows the connections by that `cut` has ended. */
  readonly brokenPorts = new Set<number>();
  /** Of the connections to the server. */
  readonly #far = new Set<Socket>();
  #isOpen = true;
  #isStalled = false;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async before(target: string): Promise<CutOff> {
    const { hostname, port, href } = new URL(target);
    const server = createServer();
    const url = new URL(href);
    // A database's other way, by a socket, would lead around this one.
    url.searchParams.delete('host');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const way = new CutOff(server, url.href);
    server.on('connection', (near) => way.#join(near, Number(port), hostname));
    return way;
  }

  /** Every connection ends, and new ones end at once, as when the program behind a port has died. */
  cut(): void {
    this.#isOpen = false;
    for (const { localPort } of this.#far) if (localPort !== undefined) this.brokenPorts.add(localPort);
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  /** Nothing passes any more, and no connection ends: as behind a network that drops everything. New ones are made, and silent too. */
  stall(): void {
    if (this.#isStalled) return;
    this.#isStalled = true;
    for (const [one, other] of this.#sockets) one.unpipe(other).pause();
  }

  /** Nothing passes over the connections that there are, and nothing ends them: as where a firewall has forgotten them. New ones work. */
  forget(): void {
    for (const [one, other] of this.#sockets) one.unpipe(other).pause();
    this.#sockets.clear();
  }

  /** What was held up passes on. */
  open(): void {
    this.#isOpen = true;
    if (!this.#isStalled) return;
    this.#isStalled = false;
    for (const [one, other] of this.#sockets) one.pipe(other);
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(near: Socket, port: number, host: string): void {
    if (!this.#isOpen) {
      near.destroy();
      return;
    }
    const far = connect(port, host);
    this.#far.add(far);
    far.on('close', () => this.#far.delete(far));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.set(one, other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      if (!this.#isStalled) one.pipe(other);
    }
  }
}
