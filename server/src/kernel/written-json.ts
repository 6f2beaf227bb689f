import { joined } from './joined.ts';
import type { Soon } from './soon.ts';
import { breather } from './turn.ts';

/** What is longer is written in pieces of about this many characters. Each takes a fraction of a millisecond. */
const PIECE_CHARACTERS = 65_536;

/**
 * A value as JSON in UTF-8, as `JSON.stringify` writes it. That takes 25 ms for 10 MB, and encoding a text that is not ASCII 30 ms more: a
 * value that is large is written in pieces, and other work has its turn between them. One that is small is written at once.
 *
 * @throws RangeError where it is nested too deeply
 */
export function writtenJson(value: unknown): Soon<Buffer> {
  return isSmall(value) ? Buffer.from(JSON.stringify(value)) : inPieces(value);
}

/** How many bytes {@link writtenJson} makes of it. */
export function jsonLength(value: unknown): Soon<number> {
  return isSmall(value) ? Buffer.byteLength(JSON.stringify(value)) : lengthInPieces(value);
}

async function lengthInPieces(value: unknown): Promise<number> {
  let bytes = 0;
  await eachJsonPiece(value, (piece) => {
    bytes += Buffer.byteLength(piece);
  });
  return bytes;
}

async function inPieces(value: unknown): Promise<Buffer> {
  const pieces: Buffer[] = [];
  await eachJsonPiece(value, (piece) => pieces.push(Buffer.from(piece)));
  // Not one buffer that grows: of that up to half would be empty for as long as the JSON is kept.
  return joined(pieces);
}

/** Hands out the JSON of a value as {@link jsonPieces} does. @throws RangeError where it is nested too deeply */
export async function eachJsonPiece(value: unknown, take: (piece: string) => void): Promise<void> {
  for await (const piece of jsonPieces(value)) take(piece);
}

/**
 * The JSON of a value piece by piece. No piece ends inside of a character; other work has its turn between them.
 * @throws RangeError where it is nested too deeply
 */
export async function* jsonPieces(value: unknown): AsyncGenerator<string, void, undefined> {
  const rest = breather();
  let piece = '';
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
    await rest();
  }
  yield piece;
}

/** Whether writing it takes no longer than a piece does. */
export const isSmall = (value: unknown): boolean => roomBehind(value, PIECE_CHARACTERS) >= 0;

/** What is left of so many characters behind a value, about; below zero, and nothing further looked at, where it does not fit. */
export function roomBehind(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 2;
  if (typeof value !== 'object' || value === null) return room - 4;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at += 1) left = roomBehind(value[at], left - 1);
    return left;
  }
  for (const name in value) {
    left = roomBehind((value as Readonly<Record<string, unknown>>)[name], left - name.length - 4);
    if (left < 0) return left;
  }
  return left;
}

function* partsOf(value: unknown): Generator<string> {
  if (isSmall(value) || isWrittenByItself(value)) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* partsOfText(value);
  else if (Array.isArray(value)) yield* partsOfArray(value);
  else yield* partsOfObject(value as object);
}

/** Dates, and their like. */
const isWrittenByItself = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function';

function* partsOfText(text: string): Generator<string> {
  yield '"';
  for (let from = 0; from < text.length; ) {
    const to = endOfPiece(text, from);
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

/** Half of a surrogate pair would be written as an escape. */
function endOfPiece(text: string, from: number): number {
  const to = from + PIECE_CHARACTERS;
  const last = text.charCodeAt(to - 1);
  return to < text.length && last >= 0xd800 && last < 0xdc00 ? to + 1 : to;
}

/** Elements that are small are written together. */
function* partsOfArray(array: readonly unknown[]): Generator<string> {
  yield '[';
  let from = 0;
  let room = PIECE_CHARACTERS;
  for (let at = 0; at < array.length; at += 1) {
    room = roomBehind(array[at], room - 1);
    if (room >= 0) continue;
    if (at > from) yield `${from > 0 ? ',' : ''}${JSON.stringify(array.slice(from, at)).slice(1, -1)}`;
    if (at > 0) yield ',';
    yield* partsOf(array[at]);
    from = at + 1;
    room = PIECE_CHARACTERS;
  }
  if (from < array.length) yield `${from > 0 ? ',' : ''}${JSON.stringify(array.slice(from)).slice(1, -1)}`;
  yield ']';
}

function* partsOfObject(object: object): Generator<string> {
  let separator = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
    yield `${separator}${JSON.stringify(name)}:`;
    yield* partsOf(member);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}
