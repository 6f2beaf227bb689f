interface Watched {
  readonly isAtWork: () => boolean;
  readonly onSilent: () => void;
}

/** Notices that a provider is at work and has said nothing for too long. Not while it waits for a client that does not read. */
export class Silence {
  readonly #mostMs: number;
  readonly #watched: Watched;
  #timer: NodeJS.Timeout | undefined;
  #isTaking = false;
  #heardTick = 0;

  constructor(mostMs: number, watched: Watched) {
    this.#mostMs = mostMs;
    this.#watched = watched;
  }

  /** The provider was asked for something. */
  watch(): void {
    this.#heardTick = performance.now();
    if (!this.#timer) this.#lookAfter(this.#mostMs);
  }

  async whileTaking(take: () => Promise<void>): Promise<void> {
    this.#isTaking = true;
    try {
      await take();
    } finally {
      this.#isTaking = false;
      this.#heardTick = performance.now();
    }
  }

  over(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookAfter(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const { isAtWork, onSilent } = this.#watched;
    if (!isAtWork()) return;
    const left = this.#isTaking ? this.#mostMs : this.#mostMs - (performance.now() - this.#heardTick);
    if (left > 0) this.#lookAfter(left);
    else onSilent();
  }
}
