const BEAT_MS = 15_000;

/** One timer for all running streams: pings those that are silent. */
export class Heartbeat {
  readonly #beats = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;

  constructor(intervalMs: number = BEAT_MS) {
    this.#timer = setInterval(() => {
      for (const beat of this.#beats) beat();
    }, intervalMs).unref();
  }

  /** Calls `beat` now and then until the returned function is called. */
  start(beat: () => void): () => void {
    this.#beats.add(beat);
    return () => this.#beats.delete(beat);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

export const SILENCE_MS = BEAT_MS;
