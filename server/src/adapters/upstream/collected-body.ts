import { withoutBom } from '../../kernel/event-lines.ts';
import { GrowingBuffer } from '../../kernel/growing-buffer.ts';
import { JsonMembers } from '../../kernel/json-members.ts';
import { usageSoFar } from '../../kernel/json-so-far.ts';
import { isUsageName } from '../../kernel/stated-usage.ts';
import { breather } from '../../kernel/turn.ts';
import type { Json } from './json-value.ts';
import { jsonIn } from './json-value.ts';
import { UpstreamCut } from './port.ts';

/** What is no longer is not searched for its usage while it comes: it will be parsed. */
const SEARCHED_BYTES = 1024 * 1024;
const PIECE_BYTES = 65_536;
/** More than any usage takes. */
const LONGEST_USAGE = 64 * 1024;

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

/** What a document that breaks off says of its usage. */
export function usageBegunIn(document: Buffer): Json {
  const search = new UsageSearch();
  search.take(document);
  return search.foundSoFar;
}

/** What a JSON document says of its usage, without parsing the rest of it. Other work has its turn meanwhile. */
export async function usageFoundIn(document: Buffer): Promise<Json | undefined> {
  const search = new UsageSearch();
  const rest = breather();
  for (let at = 0; at < document.length; at += PIECE_BYTES) {
    search.take(document.subarray(at, at + PIECE_BYTES));
    await rest();
  }
  return search.found;
}

/** Keeps of a JSON document what it says of its usage, and nothing else. */
class UsageSearch {
  readonly #found: Record<string, unknown> = {};
  readonly #members: JsonMembers;
  /** Of the member that is being read, where it tells of usage. */
  #name: string | undefined;
  #value: Buffer[] = [];

  constructor() {
    let bytes = 0;
    this.#members = new JsonMembers({
      begin: (begins) => {
        this.#name = isUsageName(begins) ? begins : undefined;
        this.#value = [];
        bytes = 0;
      },
      value: (part) => {
        bytes += part.length;
        if (bytes > LONGEST_USAGE) this.#name = undefined;
        // What it came in is not to be kept for it.
        if (this.#name !== undefined) this.#value.push(Buffer.from(part));
      },
      end: () => {
        if (this.#name !== undefined) this.#found[this.#name] = jsonIn(this.#text);
        this.#name = undefined;
      },
    });
  }

  get #text(): string {
    return Buffer.concat(this.#value).toString('utf8');
  }

  take(part: Buffer): void {
    this.#members.take(part);
  }

  /** Of one that broke off there is no more to go by, in the middle of its usage the least. */
  get foundSoFar(): Json {
    return this.#name === undefined ? this.#found : { ...this.#found, [this.#name]: usageSoFar(this.#text) };
  }

  /** Nothing where the document is none: what it says may have been made up. */
  get found(): Json | undefined {
    return this.#members.isComplete ? this.#found : undefined;
  }
}
