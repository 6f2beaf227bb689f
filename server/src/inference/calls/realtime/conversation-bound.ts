import type { CatalogModel } from '../../../money/catalog/index.ts';
import { isRecord } from '../usage.ts';
import { ITEMS } from './events.ts';

/** Beside what an item says: its role, its place. */
const TOKENS_PER_ITEM = 16;
/** What a provider has heard by the time that we hear of it, and what it adds to a prompt. */
const UNSEEN_TOKENS = 256;
/** Sound is a token for each 100 ms of a user and for each 50 ms of a model. The smallest formats have 8,000 bytes a second. */
const BYTES_PER_AUDIO_TOKEN = { pcm: 2_400, other: 400 } as const;

/** 16 bits at 24 kHz, or 8 at 8 kHz. */
const BYTES_PER_SECOND = { pcm: 48_000, other: 8_000 } as const;

/** Of the response that a `response.create` asks for. */
interface Asked {
  readonly input?: unknown;
  readonly instructions?: unknown;
  readonly tools?: unknown;
}

/** Where the conversation was when a response was asked for. */
export interface Mark {
  readonly added: number;
  readonly waiting: number;
  readonly settings: number;
}

/**
 * The most tokens that a response reads: what the provider has said of the conversation with the last response, and what was said since, by
 * its bytes, of which a token of text has one at least. What the provider forgets of it is not known here, so it is never too little.
 */
export class ConversationBound {
  readonly #model: Pick<CatalogModel, 'contextWindow' | 'imageTokenBound'>;
  #format: keyof typeof BYTES_PER_AUDIO_TOKEN = 'pcm';
  /** Instructions and tools that were ever set, and those of them that a response has read. */
  #settings = 0;
  #settingsRead = 0;
  #items = 0;
  /** Everything that was ever added to the items. */
  #added = 0;
  /** Of it, what is sound. */
  #addedSound = 0;
  /** Sound that was sent and is no part of the conversation yet; how much of it each clear throws away that the provider has not answered. */
  #waiting = 0;
  #clears: number[] = [];

  constructor(model: Pick<CatalogModel, 'contextWindow' | 'imageTokenBound'>) {
    this.#model = model;
  }

  /** What a session says of itself. @param session a whole one, or what is to be changed of it */
  configure(session: Readonly<Record<string, unknown>>): void {
    this.#settings += textTokens(session['instructions']) + textTokens(session['tools']);
    const input = member(session['audio'], 'input');
    // What is in the buffer may be of both: once the smaller was spoken of, all sound counts as that.
    if (!isPcmOf24Khz(member(input, 'format')) && this.#format === 'pcm') this.#countAsSmaller();
    // What the provider has left out may be read again.
    if (session['truncation'] !== undefined) this.#items = Math.max(this.#items, this.#added);
  }

  /** An item that the client adds. */
  add(item: unknown): void {
    this.#put(this.itemTokens(item), this.#soundTokens(item));
  }

  /** @param audio base64 */
  hear(audio: string): void {
    this.#waiting += this.#audioTokens(audio);
  }

  /** The most that it lasts. @param audio base64 */
  secondsOf(audio: string): number {
    return (audio.length * 3) / 4 / BYTES_PER_SECOND[this.#format];
  }

  committed(): void {
    this.#put(this.#waiting, this.#waiting);
    this.#waiting = 0;
    this.#clears.fill(0);
  }

  /** The client says that what was heard is to be forgotten. */
  clears(): void {
    this.#clears.push(this.#waiting);
  }

  /** The provider has forgotten what it had heard: not what was sent since it was told to. */
  cleared(): void {
    const forgotten = this.#clears.shift() ?? 0;
    this.#waiting -= forgotten;
    this.#clears = this.#clears.map((waiting) => Math.max(0, waiting - forgotten));
  }

  mark(): Mark {
    return { added: this.#added, waiting: this.#waiting, settings: this.#settings };
  }

  /** A response of the conversation has ended: what it has read and written is known. What was said and set after its mark it has not read. */
  known({ read, written }: { readonly read: number; readonly written: number }, { added, waiting, settings }: Mark): void {
    this.#settingsRead = Math.max(this.#settingsRead, settings);
    this.#items = read + written + (this.#added - added) + waiting;
    // Another that is at work may not have read it.
    this.#added += written;
  }

  /** A response was added to the conversation, of which only the bound is known, or which read something else. */
  wrote(tokens: number): void {
    this.#put(tokens);
  }

  /** @param writing the most that responses at work may add to the conversation before this one reads it */
  of({ input, instructions, tools }: Asked, writing = 0): number {
    const own = textTokens(instructions) + textTokens(tools);
    const given = Array.isArray(input) ? input : undefined;
    const named = sum((given ?? []).map((item) => this.itemTokens(item)));
    // Each that names an item may name the largest, and all of them the same.
    const times = given ? given.filter((item) => !isWhole(item)).length : 1;
    const items = named + times * (this.#items + this.#waiting + writing);
    const settings = this.#settings - this.#settingsRead;
    return Math.min(settings + own + items + UNSEEN_TOKENS, this.#model.contextWindow ?? Number.MAX_SAFE_INTEGER);
  }

  itemTokens(item: unknown): number {
    const images = partsOf(item).filter((part) => member(part, 'image_url') !== undefined).length;
    // Whether its provider reads a part as an image or as sound is not known here, where it is both.
    return TOKENS_PER_ITEM + this.#soundTokens(item) + images * this.#imageTokens() + textTokens(withoutMedia(item));
  }

  #soundTokens(item: unknown): number {
    const sounds = partsOf(item).map((part) => member(part, 'audio'));
    return sum(sounds.map((audio) => (typeof audio === 'string' ? this.#audioTokens(audio) : 0)));
  }

  #put(tokens: number, sound = 0): void {
    this.#items += tokens;
    this.#added += tokens;
    this.#addedSound += sound;
  }

  #countAsSmaller(): void {
    const more = BYTES_PER_AUDIO_TOKEN.pcm / BYTES_PER_AUDIO_TOKEN.other - 1;
    this.#format = 'other';
    this.#put(this.#addedSound * more);
    this.#waiting += this.#waiting * more;
  }

  #audioTokens = (base64: string): number => Math.ceil((base64.length * 3) / 4 / BYTES_PER_AUDIO_TOKEN[this.#format]) + 1;

  #imageTokens = (): number => this.#model.imageTokenBound ?? this.#model.contextWindow ?? 0;
}

/** What sessions begin with. PCM at another rate has fewer bytes a second. */
const isPcmOf24Khz = (format: unknown): boolean =>
  format === undefined || format === null || (member(format, 'type') === 'audio/pcm' && [undefined, 24_000].includes(Object(format).rate));

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
const member = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);
/** Anything else may name an item of the conversation. */
const isWhole = (item: unknown): boolean => ITEMS.has(member(item, 'type'));

const partsOf = (item: unknown): readonly unknown[] => {
  const content = member(item, 'content');
  return Array.isArray(content) ? content : [];
};

/** A token of text has one byte at least. */
const textTokens = (value: unknown): number =>
  typeof value === 'string' ? Buffer.byteLength(value) : value === undefined || value === null ? 0 : jsonBytes(value);

/** Of a value as JSON without escapes, which no model reads; counted, since to write what is large takes long. */
function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (Array.isArray(value)) return value.reduce((bytes: number, element) => bytes + jsonBytes(element) + 1, 2);
  return Object.entries(value).reduce(
    (bytes, [name, element]) => (element === undefined ? bytes : bytes + Buffer.byteLength(name) + 4 + jsonBytes(element)),
    2,
  );
}

const withoutMedia = (item: unknown): unknown => {
  const content = member(item, 'content');
  if (!isRecord(item) || !Array.isArray(content)) return item;
  return { ...item, content: content.map((part) => (isRecord(part) ? { ...part, audio: undefined, image_url: undefined } : part)) };
};
