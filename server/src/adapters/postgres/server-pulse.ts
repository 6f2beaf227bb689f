import pg from 'pg';
import { breakOff, ForgottenConnections } from './forgotten-connections.ts';

/** A server that has said something within this time is no silent one. */
const QUIET_MS = 1_000;

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
  /** For the pools whose users must not wait for a silent server, or over a connection that a network has forgotten. */
  readonly Client: typeof pg.Client;
  readonly #clients = new Set<pg.Client>();
  readonly #forgotten: ForgottenConnections;
  #heardTick = performance.now();
  #isSilent = false;
  #isServing = false;

  /** @param url of the server */
  constructor(url: string) {
    const pulse = this;
    this.#forgotten = new ForgottenConnections(url);
    this.Client = class extends pg.Client {
      constructor(config?: string | pg.ClientConfig) {
        super(config);
        pulse.#clients.add(this);
        pulse.#forgotten.watch(this);
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

  /** From now on somebody may wait. Before, a start on a busy machine waits for its database rather than fail. */
  serve(): void {
    this.#isServing = true;
  }

  /** A question that any server answers at once has waited for long. */
  silent(): void {
    if (!this.#isServing || this.#isSilent || performance.now() - this.#heardTick < QUIET_MS) return;
    this.#isSilent = true;
    for (const client of this.#clients) breakOff(client);
  }

  answers(): void {
    this.#isSilent = false;
    this.#heard();
  }

  close(): void {
    this.#forgotten.close();
  }

  #heard(): void {
    this.#heardTick = performance.now();
  }
}
