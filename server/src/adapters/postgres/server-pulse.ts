import pg from 'pg';

/** A server that has said something within this time is no silent one. */
const QUIET_MS = 1_000;

/** What pg calls private, and what its own pool ends connections by: `end` would wait for the server's goodbye. */
interface WithSocket {
  readonly connection: { readonly stream: { destroy(): unknown } };
}

class ServerSilent extends Error {
  override readonly name = 'ServerSilent';
  /** SQLSTATE connection_failure. */
  readonly code = '08006';

  constructor() {
    super('The database server does not answer.');
  }
}

/**
 * Whether a PostgreSQL server answers at all. One that is stopped, or behind a network that drops everything, refuses nothing: whoever asks
 * it would wait for minutes. Once it is known to be silent, every connection of {@link Client} ends, idle ones too, and whoever waits on one is
 * told; no new one is begun until it answers again.
 */
export class ServerPulse {
  /** For the pools whose users must not wait for a silent server. */
  readonly Client: typeof pg.Client;
  readonly #clients = new Set<pg.Client>();
  #heardTick = performance.now();
  #isSilent = false;

  constructor() {
    const pulse = this;
    this.Client = class extends pg.Client {
      constructor(config?: string | pg.ClientConfig) {
        super(config);
        pulse.#clients.add(this);
        this.once('end', () => pulse.#clients.delete(this));
        this.on('drain', () => pulse.#heard());
      }

      override connect(): Promise<void>;
      override connect(callback: (error: Error) => void): void;
      override connect(callback?: (error: Error) => void): Promise<void> | undefined {
        if (pulse.#isSilent) {
          pulse.#clients.delete(this);
          if (!callback) return Promise.reject(new ServerSilent());
          process.nextTick(callback, new ServerSilent());
          return undefined;
        }
        if (!callback) return super.connect();
        super.connect(callback);
        return undefined;
      }
    };
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** A question that any server answers at once has waited for long. */
  silent(): void {
    if (this.#isSilent || performance.now() - this.#heardTick < QUIET_MS) return;
    this.#isSilent = true;
    for (const client of this.#clients) (client as unknown as WithSocket).connection.stream.destroy();
  }

  answers(): void {
    this.#isSilent = false;
    this.#heard();
  }

  #heard(): void {
    this.#heardTick = performance.now();
  }
}
