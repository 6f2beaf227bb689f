import { fromBase64, toBase64 } from './encoding.ts';

/**
 * The part of Structured Fields (RFC 9651) that HTTP signatures and digests are written in: dictionaries of items and of
 * inner lists, with strings, tokens, integers, booleans and byte sequences. Stricter than the RFC: what it lets the last
 * of several win (members, parameters) is refused, and so is base64 in a second spelling, since two readers of one
 * signature must never see two things.
 */

export type BareItem =
  | { readonly type: 'string' | 'token'; readonly value: string }
  | { readonly type: 'integer'; readonly value: number }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'bytes'; readonly value: Uint8Array };

export type Parameters = ReadonlyMap<string, BareItem>;

export interface Item {
  readonly item: BareItem;
  readonly parameters: Parameters;
}

export interface InnerList {
  readonly items: readonly Item[];
  readonly parameters: Parameters;
}

export type Dictionary = ReadonlyMap<string, Item | InnerList>;

const KEY = /[a-z*][a-z0-9_.*-]*/y;
const TOKEN = /[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*/y;
const INTEGER = /-?\d{1,15}(?![\d.])/y;
const STRING = /"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const BYTES = /:([A-Za-z0-9+/]*={0,2}):/y;
const BOOLEAN = /\?([01])/y;
const SPACES = / */y;
const COMMA = /[ \t]*,[ \t]*/y;

/** Leaves a parser from any depth of it; `parseDictionary` and `parseInnerList` catch it. */
class NotStructured extends Error {}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** The first group of the pattern, or all of it, where it matches here. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (!match) return undefined;
    this.#at = pattern.lastIndex;
    return match[1] ?? match[0];
  }

  takes(letter: string): boolean {
    if (this.#text[this.#at] !== letter) return false;
    this.#at += 1;
    return true;
  }

  need(pattern: RegExp): string {
    const found = this.take(pattern);
    if (found === undefined) throw new NotStructured();
    return found;
  }
}

/** Undefined for whatever is not a dictionary of this part of the format. */
export const parseDictionary = (text: string): Dictionary | undefined => parsed(text, dictionary);

/** One inner list with its parameters, and nothing else. */
export const parseInnerList = (text: string): InnerList | undefined =>
  parsed(text, (reader) => {
    if (!reader.takes('(')) throw new NotStructured();
    return innerList(reader);
  });

/** The one spelling of an inner list (RFC 9651, section 4.1.1.1). */
export const serializeInnerList = ({ items, parameters }: InnerList): string =>
  `(${items.map(({ item, parameters: own }) => serializeItem(item) + serializeParameters(own)).join(' ')})${serializeParameters(parameters)}`;

function parsed<T>(text: string, read: (reader: Reader) => T): T | undefined {
  const reader = new Reader(text.replace(/^ +| +$/g, ''));
  try {
    const value = read(reader);
    return reader.isAtEnd ? value : undefined;
  } catch (error) {
    if (error instanceof NotStructured) return undefined;
    throw error;
  }
}

function dictionary(reader: Reader): Dictionary {
  const members = new Map<string, Item | InnerList>();
  do {
    const key = reader.need(KEY);
    if (members.has(key)) throw new NotStructured();
    members.set(key, member(reader));
  } while (reader.take(COMMA) !== undefined);
  return members;
}

function member(reader: Reader): Item | InnerList {
  if (!reader.takes('=')) return { item: { type: 'boolean', value: true }, parameters: parameters(reader) };
  return reader.takes('(') ? innerList(reader) : item(reader);
}

function innerList(reader: Reader): InnerList {
  const items: Item[] = [];
  for (;;) {
    const gap = reader.need(SPACES);
    if (reader.takes(')')) return { items, parameters: parameters(reader) };
    if (items.length > 0 && gap === '') throw new NotStructured();
    items.push(item(reader));
  }
}

const item = (reader: Reader): Item => ({ item: bareItem(reader), parameters: parameters(reader) });

function parameters(reader: Reader): Parameters {
  const found = new Map<string, BareItem>();
  while (reader.takes(';')) {
    reader.take(SPACES);
    const key = reader.need(KEY);
    if (found.has(key)) throw new NotStructured();
    found.set(key, reader.takes('=') ? bareItem(reader) : { type: 'boolean', value: true });
  }
  return found;
}

function bareItem(reader: Reader): BareItem {
  const string = reader.take(STRING);
  if (string !== undefined) return { type: 'string', value: string.replace(/\\(["\\])/g, '$1') };
  const integer = reader.take(INTEGER);
  if (integer !== undefined) return { type: 'integer', value: Number(integer) };
  const base64 = reader.take(BYTES);
  if (base64 !== undefined) return { type: 'bytes', value: bytesOf(base64) };
  const boolean = reader.take(BOOLEAN);
  if (boolean !== undefined) return { type: 'boolean', value: boolean === '1' };
  return { type: 'token', value: reader.need(TOKEN) };
}

function bytesOf(base64: string): Uint8Array {
  const bytes = fromBase64(base64);
  if (!bytes) throw new NotStructured();
  return bytes;
}

const serializeParameters = (found: Parameters): string =>
  [...found].map(([key, value]) => (value.type === 'boolean' && value.value ? `;${key}` : `;${key}=${serializeItem(value)}`)).join('');

function serializeItem(item: BareItem): string {
  switch (item.type) {
    case 'string':
      return `"${item.value.replace(/["\\]/g, '\\$&')}"`;
    case 'token':
      return item.value;
    case 'integer':
      return String(item.value === 0 ? 0 : item.value);
    case 'boolean':
      return item.value ? '?1' : '?0';
    case 'bytes':
      return `:${toBase64(item.value)}:`;
    default:
      return item satisfies never;
  }
}
