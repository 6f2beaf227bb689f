import { JsonTexts } from './json-text.ts';
import { Problem } from './problem.ts';
import { breather } from './turn.ts';

/** What a JSON text may consist of at most. Its length is bounded elsewhere. */
export interface JsonBounds {
  /** Arrays and objects within each other. */
  readonly levels: number;
  /** Values in all: every element, member, array and object counts as one. */
  readonly values: number;
  /** Members of all objects together. Each costs several times what an element of an array does. */
  readonly members: number;
  /** Arrays and objects in all; each takes some 60 bytes. Without it, as many as there may be values. */
  readonly containers?: number;
}

const MOST_LEVELS = 256;
/** Longer than any number that a double can represent exactly. */
const LONGEST_NUMBER = 1_000;
/** Of a member, in bytes. */
const LONGEST_NAME = 4_096;
/** Of one object. OpenAI takes schemas with as many properties. */
const MOST_MEMBERS_OF_ONE = 5_000;

/** The largest request that OpenAI takes is of 300,000 tokens to embed. */
export const INFERENCE_JSON: JsonBounds = { levels: MOST_LEVELS, values: 320_000, members: 30_000 };
export const ACCOUNT_JSON: JsonBounds = { levels: MOST_LEVELS, values: 20_000, members: 10_000 };
/** Of a provider's answer, one for each: log probabilities have 20. */
const BYTES_PER_CONTAINER = 16;

/**
 * Of a provider's answer of so many bytes. Log probabilities of twenty alternatives for each of 16,000 tokens are the most that any has, 2.7
 * million values; what is denser takes more than 8 times its size.
 */
const answerBounds = (bytes: number): JsonBounds => ({
  ...{ levels: MOST_LEVELS, values: 4_000_000, members: 1_500_000 },
  containers: Math.floor(bytes / BYTES_PER_CONTAINER),
});

/** A text that is no longer than this breaks none of the bounds but, where it is no JSON, that of levels; then it is refused as such. */
export const HARMLESS_BYTES = 2 * MOST_LEVELS;

const QUOTE = 0x22;
const [OTHER, STRING, COMMA, COLON, OPENING, CLOSING, SPACE] = [0, 1, 2, 3, 4, 5, 6];
const KINDS = new Uint8Array(256);
for (const [kind, characters] of [
  [STRING, '"'],
  [COMMA, ','],
  [COLON, ':'],
  [OPENING, '[{'],
  [CLOSING, ']}'],
  [SPACE, ' \t\r\n'],
] as const)
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;

/**
 * Counts the parts of a JSON text before it is parsed: `[0,0,…]` takes eight times its size once it is parsed, an array of
 * empty objects twenty times, and checking it against a schema takes minutes. Takes the bytes as they come, some 2 ns for each and
 * next to nothing for those of long strings. Whether they are JSON at all is not its business.
 */
export class JsonScan {
  readonly #bounds: JsonBounds;
  readonly #membersOf: Uint32Array;
  #values = 1;
  #members = 0;
  #containers = 0;
  #level = 0;
  #isInString = false;
  /** The chunk ended in the middle of an escape. */
  #isEscaped = false;
  /** Of the string that is being read, or was read last, in bytes. */
  #stringLength = 0;
  /** Of the number or word that is being read. */
  #wordLength = 0;
  readonly #texts = new JsonTexts();

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
    this.#membersOf = new Uint32Array(bounds.levels + 1);
  }

  /** How many values there are so far; never fewer than parsing would find. */
  get values(): number {
    return this.#values;
  }

  /** @throws Problem `body_too_complex` at the first bound that is broken */
  take(chunk: Buffer): void {
    this.#texts.restart();
    let at = 0;
    while (at < chunk.length) at = this.#isInString ? this.#throughString(chunk, at) : this.#toNextString(chunk, at);
  }

  /** Up to the next string, or to the chunk's end. @returns where it stopped */
  #toNextString(chunk: Buffer, start: number): number {
    let wordLength = this.#wordLength;
    for (let at = start; at < chunk.length; at += 1) {
      const kind = KINDS[chunk[at] ?? 0];
      if (kind === OTHER) {
        wordLength += 1;
        if (wordLength > LONGEST_NUMBER) throw tooComplex(`a number with more than ${LONGEST_NUMBER} digits`);
        continue;
      }
      if (kind === SPACE) continue;
      wordLength = 0;
      if (kind === STRING) {
        this.#wordLength = 0;
        this.#stringLength = 0;
        this.#isInString = true;
        return at + 1;
      }
      if (kind === COMMA) this.#countValue();
      else if (kind === COLON) this.#countMember();
      else if (kind === OPENING) this.#open();
      else if (this.#level > 0) this.#level -= 1;
    }
    this.#wordLength = wordLength;
    return chunk.length;
  }

  #throughString(chunk: Buffer, start: number): number {
    const from = this.#isEscaped ? start + 1 : start;
    const end = this.#texts.endOf(chunk, from, chunk.length);
    this.#isEscaped = end > chunk.length;
    this.#isInString = chunk[end] !== QUOTE;
    this.#stringLength += Math.min(end, chunk.length) - start;
    return this.#isInString ? chunk.length : end + 1;
  }

  #open(): void {
    this.#countValue();
    this.#containers += 1;
    if (this.#containers > (this.#bounds.containers ?? this.#bounds.values)) throw tooComplex('too many arrays and objects for its size');
    this.#level += 1;
    if (this.#level > this.#bounds.levels) throw tooComplex(`arrays and objects nested deeper than ${this.#bounds.levels} levels`);
    this.#membersOf[this.#level] = 0;
  }

  #countValue(): void {
    this.#values += 1;
    if (this.#values > this.#bounds.values) throw tooComplex(`more than ${this.#bounds.values} values`);
  }

  #countMember(): void {
    if (this.#stringLength > LONGEST_NAME) throw tooComplex(`a field name longer than ${LONGEST_NAME} bytes`);
    this.#members += 1;
    if (this.#members > this.#bounds.members) throw tooComplex(`more than ${this.#bounds.members} fields in all objects together`);
    const ofThis = (this.#membersOf[this.#level] ?? 0) + 1;
    this.#membersOf[this.#level] = ofThis;
    if (ofThis > MOST_MEMBERS_OF_ONE) throw tooComplex(`an object with more than ${MOST_MEMBERS_OF_ONE} fields`);
  }
}

const PIECE_BYTES = 65_536;

/**
 * Whether something large would take too much once it is parsed. Other work has its turn meanwhile.
 * @param bounds those of a provider's answer, where it is none of a client's
 */
export async function isTooComplex(bytes: Buffer, bounds: JsonBounds = answerBounds(bytes.length)): Promise<boolean> {
  const scan = new JsonScan(bounds);
  const rest = breather();
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      scan.take(bytes.subarray(at, at + PIECE_BYTES));
      await rest();
    }
    return false;
  } catch (error) {
    if (error instanceof Problem) return true;
    throw error;
  }
}

const tooComplex = (what: string): Problem =>
  new Problem('body_too_complex', `The body has ${what}, more than this endpoint accepts: split the request.`);
