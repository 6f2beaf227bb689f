import { withoutBom } from '../../kernel/event-lines.ts';
import { GrowingBuffer } from '../../kernel/growing-buffer.ts';
import { UpstreamCut } from './port.ts';
import { UsageSearch, usageBegunIn } from './usage-search.ts';

/** What is no longer is not searched for its usage while it comes: it will be parsed. */
const SEARCHED_BYTES = 1024 * 1024;

/** A body that is kept whole, as long as it is not too large; of one that is, what it says of its usage is found. */
export class CollectedBody {
  readonly #maxBytes: number;
  readonly #onTooLarge: (() => void) | undefined;
  readonly #kept = new GrowingBuffer();
  #bytes = 0;
  #search: UsageSearch | undefined;

  constructor(maxBytes: number, onTooLarge?: () => void) {
    this.#maxBytes = maxBytes;
    this.#onTooLarge = onTooLarge;
  }

  take(part: Buffer): void {
    const isTooLarge = this.#bytes > this.#maxBytes;
    this.#bytes += part.length;
    if (this.#bytes > Math.min(SEARCHED_BYTES, this.#maxBytes)) {
      if (!this.#search) {
        this.#search = new UsageSearch();
        this.#search.take(this.#kept.bytes);
      }
      this.#search.take(part);
    }
    if (this.#bytes <= this.#maxBytes) this.#kept.add(part);
    else if (!isTooLarge) {
      this.#kept.clear();
      this.#onTooLarge?.();
    }
  }

  /** @throws UpstreamCut `too_large`, with what was found */
  whole(): Buffer {
    if (this.#bytes > this.#maxBytes) throw new UpstreamCut('too_large', { found: this.#search?.found });
    return withoutBom(this.#kept.bytes);
  }

  /** It broke off: with what came of it, and what that says of its usage. */
  cut(cause: UpstreamCut): UpstreamCut {
    if (this.#bytes > this.#maxBytes) return cause;
    const found = this.#search?.foundSoFar ?? usageBegunIn(this.#kept.bytes);
    return new UpstreamCut(cause.reason, { cause, found, came: this.#kept.bytes });
  }
}
