import type { Soon } from '../../kernel/soon.ts';
import type { StreamError } from './answer-form.ts';
import { choicesOf, textOr } from './chat-chunk.ts';
import { dataOf, isJsonText, jsonOf, LONGEST_PARSED } from './event-data.ts';
import { dataEventsOf } from './event-frames.ts';
import { largeChunkOf } from './large-chunk.ts';
import { isRecord } from './usage.ts';

/** What is asked of the bytes of a chat's events, most of which are not parsed. */

const LF = 10;
const USAGE = Buffer.from('"usage"');
const ERROR = Buffer.from('"error"');
const NULL = Buffer.from('null');
const DONE = Buffer.from('[DONE]');
const COLON = 58;
const COMMA = 44;
const LETTER_N = 110;
const LETTER_D = 100;
const BRACE = 123;
const BLANK = 32;
const BLANKS = new Set(Buffer.from(' \t\r\n'));

export const isBlank = (rest: Buffer): boolean => rest.length <= LONGEST_PARSED && dataOf(rest.toString('utf8')) === undefined;

/** Whether it is a whole event that lacks only its end, or nothing. */
export function isWhole(rest: Buffer): Soon<boolean> {
  if (rest.length > LONGEST_PARSED) return largeChunkOf(rest).then((chunk) => chunk !== undefined);
  const text = rest.toString('utf8');
  const data = dataOf(text);
  return data === undefined ? text.trim() === '' : data === '[DONE]' || jsonOf(data) !== undefined;
}

/** Whether each event is one line of data that is a JSON object. */
export function isPlain(events: Buffer): boolean {
  for (let at = 0; at < events.length; ) {
    if (events[at] !== LETTER_D || events[at + 4] !== COLON) return false;
    const brace = events[at + 5] === BLANK ? at + 6 : at + 5;
    if (events[brace] !== BRACE) return false;
    const end = events.indexOf(LF, brace);
    if (end < 0 || !isJsonText(events.toString('latin1', brace, end))) return false;
    if (events[end + 1] === LF) at = end + 2;
    else if (events[end + 2] === LF) at = end + 3;
    else return false;
  }
  return true;
}

/** Inside a JSON string a quote is escaped, so these patterns are found in keys and whole values only. `"usage":null`, which every chunk may have, needs no care. */
export function needsCare(events: Buffer): boolean {
  if (events.includes(DONE) || events.includes(ERROR)) return true;
  for (let at = events.indexOf(USAGE); at >= 0; at = events.indexOf(USAGE, at + USAGE.length)) {
    let next = at + USAGE.length;
    while (events[next] === COLON || BLANKS.has(events[next] ?? 0)) next += 1;
    if (events[next] !== LETTER_N) return true;
  }
  return false;
}

/** The same events without `"usage":null`, which is for those alone who have asked for the usage. */
export function withoutNullUsage(events: Buffer): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  for (let at = events.indexOf(USAGE); at >= 0; at = events.indexOf(USAGE, at + USAGE.length)) {
    const member = nullMemberAt(events, at);
    if (!member) continue;
    kept.push(events.subarray(from, member.from));
    from = member.to;
  }
  return from === 0 ? events : Buffer.concat([...kept, events.subarray(from)]);
}

/** A member whose value is null, with one of the commas beside it; its name begins at `at`. */
function nullMemberAt(events: Buffer, at: number): { readonly from: number; readonly to: number } | undefined {
  const colon = behindBlanks(events, at + USAGE.length);
  const value = behindBlanks(events, colon + 1);
  if (events[colon] !== COLON || !events.subarray(value, value + NULL.length).equals(NULL)) return undefined;
  const end = value + NULL.length;
  let before = at - 1;
  while (BLANKS.has(events[before] ?? 0)) before -= 1;
  if (events[before] === COMMA) return { from: before, to: end };
  const next = behindBlanks(events, end);
  return { from: at, to: events[next] === COMMA ? next + 1 : end };
}

function behindBlanks(events: Buffer, from: number): number {
  let at = from;
  while (BLANKS.has(events[at] ?? 0)) at += 1;
  return at;
}

/** Whether the last chunk with a choice gives the reason why it ends; undefined where none of the pieces has one. */
export function finishedIn(pieces: readonly Buffer[]): boolean | undefined {
  for (const piece of pieces.toReversed())
    for (const event of dataEventsOf(piece).toReversed()) {
      const choices = choicesOf(jsonOf(dataOf(event.toString('utf8'))));
      if (choices.length > 0) return choices.some((choice) => typeof choice['finish_reason'] === 'string');
    }
  return undefined;
}

export const streamError = (error: unknown): StreamError =>
  isRecord(error)
    ? {
        message: textOr(error['message'], 'The provider broke the stream off.').slice(0, 500),
        type: textOr(error['type'], 'server_error'),
        code: textOr(error['code'], '') || null,
      }
    : { message: textOr(error, 'The provider broke the stream off.').slice(0, 500), type: 'server_error', code: null };
