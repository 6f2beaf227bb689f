import type { ReceiptUsage } from '@tallygate/contract';
import { googleUsageOf, isGoogleDecrease, largerGoogleUsage } from '../../../adapters/upstream/port.ts';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import type { Json } from '../event-data.ts';
import { leastUsage, readUsage, readUsageSoFar } from '../usage.ts';

type GoogleUsage = ReturnType<typeof googleUsageOf>;

/** What a stream of Google's says of its usage: each event tells of all so far, and the last one of the whole. */
export class StreamedUsage {
  #usage: GoogleUsage;
  #hasDecreased = false;
  /** Something was said behind the last usage: it was none of the whole. */
  #hasGoneOn = false;

  /** What the event says, with those before it. */
  read(event: Json, hasSpoken: boolean): ReceiptUsage | undefined {
    const said = googleUsageOf(statedUsage(event));
    this.#hasGoneOn = said === undefined && (this.#hasGoneOn || hasSpoken);
    if (said) {
      this.#hasDecreased ||= !said.is_partial && isGoogleDecrease(this.#usage, said);
      this.#usage = largerGoogleUsage(this.#usage, said);
    }
    return leastUsage(this.#usage);
  }

  get whole(): ReceiptUsage | undefined {
    return this.#hasGoneOn ? undefined : readUsage(this.#usage);
  }

  /** What was said of the prompt, which is exact from the beginning. */
  get prompt(): ReceiptUsage | undefined {
    return this.#usage && readUsageSoFar({ ...this.#usage, completion_tokens: 0, total_tokens: null });
  }

  get hasDecreased(): boolean {
    return this.#hasDecreased;
  }
}
