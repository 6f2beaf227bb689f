import type { ReceiptUsage } from '@tallygate/contract';
import { isDecrease, laterMessageUsage, messageUsageOf } from '../../../adapters/upstream/port.ts';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import type { ShownCost } from '../answer-form.ts';
import type { Json } from '../event-data.ts';
import { isPartial, isRecord, isSaid, leastUsage, readUsage, readUsageSoFar } from '../usage.ts';

/** Anthropic's usage of a whole answer; undefined where it is missing or cannot be a count. */
export const readMessageUsage = (usage: unknown): ReceiptUsage | undefined => readUsage(messageUsageOf(usage));

/** What its counts say at the least. */
export const leastMessageUsage = (usage: unknown): ReceiptUsage | undefined => leastUsage(messageUsageOf(usage));

/** What is settled, in Anthropic's words: what the cache has a part in stands beside `input_tokens`. */
export function usageOnMessage(usage: ReceiptUsage): Json {
  const { cache_write_1h_tokens: hour = 0, cache_write_tokens: fiveMinutes, cached_input_tokens: read } = usage;
  return {
    input_tokens: Math.max(0, usage.input_tokens - read - fiveMinutes - hour),
    cache_creation_input_tokens: fiveMinutes + hour,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: fiveMinutes, ephemeral_1h_input_tokens: hour },
    output_tokens: usage.output_tokens,
  };
}

/** The provider's own words where they are what is settled, and the cost. */
export const shownMessageUsage = (reported: unknown, said: ReceiptUsage | undefined, { usage, costUsd }: ShownCost): Json => ({
  ...(isSaid(said, usage) && isRecord(reported) ? reported : usageOnMessage(usage)),
  cost: costUsd,
});

/** What a stream says of its usage: of the prompt when it begins, of the rest at its end. */
export class StreamedUsage {
  #usage: Json = {};
  /** What came out was counted: what is said of it at the beginning is a placeholder. */
  #hasCounted = false;
  #hasDecreased = false;

  /** What the event says, with those before it; of the one that ends the stream, of the whole. */
  read(event: Json): ReceiptUsage | undefined {
    const { message } = event;
    const stated = isRecord(message) ? message['usage'] : statedUsage(event);
    if (!isRecord(stated)) return event['type'] === 'message_stop' ? this.whole : undefined;
    const said = laterMessageUsage(this.#usage, stated);
    // One that breaks off comes again.
    if (!isPartial(stated)) {
      const { output_tokens: _, ...prompt } = this.#usage;
      this.#hasDecreased ||= isDecrease(this.#hasCounted ? this.#usage : prompt, stated);
      this.#usage = said;
      this.#hasCounted ||= !isRecord(message);
    }
    return leastMessageUsage(said);
  }

  get whole(): ReceiptUsage | undefined {
    return this.#hasCounted ? readMessageUsage(this.#usage) : undefined;
  }

  /** What was said of the prompt, which is exact from the beginning. */
  get prompt(): ReceiptUsage | undefined {
    return readUsageSoFar(messageUsageOf({ ...this.#usage, output_tokens: 0 }));
  }

  /** In the provider's own words. */
  get stated(): Json {
    return this.#usage;
  }

  get hasDecreased(): boolean {
    return this.#hasDecreased;
  }
}
