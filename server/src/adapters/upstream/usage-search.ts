import { JsonMembers } from '../../kernel/json-members.ts';
import { usageSoFar } from '../../kernel/json-so-far.ts';
import { isUsageName, largest, mayHoldUsage, usageInText } from '../../kernel/stated-usage.ts';
import { breather } from '../../kernel/turn.ts';
import { isRecord, type Json, jsonIn, jsonInBytes } from './json-value.ts';

const PIECE_BYTES = 65_536;
/** More than any usage takes. */
const LONGEST_USAGE = 64 * 1024;
/** The beginning of the name of a usage, in all native dialects. */
const NAMED = '"usage';

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
export class UsageSearch {
  readonly #found: Record<string, unknown> = {};
  readonly #members: JsonMembers;
  /** Of the member that is being read, where it tells of usage. */
  #name: string | undefined;
  #value: Buffer[] = [];

  constructor() {
    let bytes = 0;
    this.#members = new JsonMembers({
      begin: (begins) => {
        this.#name = mayHoldUsage(begins) ? begins : undefined;
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
        if (this.#name !== undefined) this.#keep(this.#name, jsonIn(this.#text));
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
    if (this.#name === undefined) return this.#found;
    if (isUsageName(this.#name)) return { ...this.#found, [this.#name]: usageSoFar(this.#text) };
    const usage = usageInText(this.#text);
    return usage ? { usage, ...this.#found } : this.#found;
  }

  /** Of a name that comes twice the largest counts are kept. */
  #keep(name: string, value: unknown): void {
    const kept = isUsageName(name) ? value : withLargestUsage(value, this.#text);
    if (kept === undefined) return;
    const before = this.#found[name];
    this.#found[name] = isRecord(before) && isRecord(kept) ? largest(before, kept) : kept;
  }

  /** Nothing where the document is none: what it says may have been made up. */
  get found(): Json | undefined {
    return this.#members.isComplete ? this.#found : undefined;
  }
}

/** The object with what it says of its usage; undefined where it says nothing. */
function withLargestUsage(object: unknown, text: string): Json | undefined {
  if (!isRecord(object)) return undefined;
  const search = new UsageSearch();
  search.take(Buffer.from(text));
  const { found } = search;
  return found && Object.keys(found).length > 0 ? { ...object, ...found } : undefined;
}

/** An event of a provider's stream, as {@link documentIn}. */
export function eventIn(text: string): unknown {
  const event = jsonIn(text);
  return text.indexOf(NAMED) === text.lastIndexOf(NAMED) ? event : (withLargestUsage(event, text) ?? event);
}

/**
 * A provider's document in its own dialect. Of a usage that an object names twice the largest counts are in it: `JSON.parse` knows the last
 * alone. Undefined where it is no JSON.
 */
export async function documentIn(bytes: Buffer): Promise<unknown> {
  const document = await jsonInBytes(bytes);
  if (!isRecord(document) || bytes.indexOf(NAMED) === bytes.lastIndexOf(NAMED)) return document;
  return { ...document, ...(await usageFoundIn(bytes)) };
}
