import { statedUsage } from '../../../../kernel/stated-usage.ts';
import { laterUsage } from '../../anthropic/usage.ts';
import { isRecord, type Json } from '../../json-value.ts';
import type { Translation } from '../../translated-answer.ts';
import { eventIn } from '../../usage-search.ts';

const NOTHING = Buffer.alloc(0);
const TELLS_USAGE = '"usage"';

/** Anthropic's events, which go on as they are. What they say of usage is kept for an answer that is too large to be passed on. */
export class PassedOn implements Translation {
  readonly contentType = 'text/event-stream; charset=utf-8';
  #usage: Json = {};
  #hasCounted = false;

  /** @param events whole */
  push(events: Buffer): Buffer {
    if (events.includes(TELLS_USAGE)) this.#count(events.toString('utf8'));
    return events;
  }

  end(): Buffer {
    return NOTHING;
  }

  /** In Anthropic's words, as in an answer of Messages. */
  finalUsage(): Json | undefined {
    return this.#hasCounted ? this.#usage : undefined;
  }

  #count(text: string): void {
    for (const line of text.split('\n')) {
      const event = line.startsWith('data: ') && line.includes(TELLS_USAGE) ? eventIn(line.slice('data: '.length)) : undefined;
      if (!isRecord(event)) continue;
      this.#usage = laterUsage(this.#usage, statedUsage(event));
      this.#hasCounted ||= event['type'] === 'message_delta';
    }
  }
}
