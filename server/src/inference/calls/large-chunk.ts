import { JsonMembers } from '../../kernel/json-members.ts';
import { usageSoFar } from '../../kernel/json-so-far.ts';
import { isUsageName, mayHoldUsage, statedUsage } from '../../kernel/stated-usage.ts';
import { breather } from '../../kernel/turn.ts';
import { type Json, lineOfData } from './event-data.ts';

const PIECE_BYTES = 65_536;
/** Inside of a JSON text its quotes are escaped: it is found as a member only. */
const FINISHED = Buffer.from('"finish_reason":"');
/** A usage, an error or a name is no longer. */
const MOST_MEMBER_BYTES = 64 * 1024;
/** What is asked of them, and of a stream's last chunk that is made after its first. */
const ASKED = new Set(['error', 'id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier']);
const isAsked = (name: string): boolean => ASKED.has(name) || mayHoldUsage(name);
/** The part of it that counts as its text. */
const SAMPLE_BYTES = 64 * 1024;

/**
 * An event of chat that is too large to be parsed, as a chunk: its members that are small, and one choice with a sample of its bytes as its
 * text. Undefined where it is not one line of data with one object.
 */
export async function largeChunkOf(event: Buffer): Promise<Json | undefined> {
  const found = lineOfData(event);
  return (
    found &&
    smallMembersOf(found.line, (name, elements) => {
      if (name === 'error') return { error: {} };
      return name === 'choices' ? { choices: elements > 0 ? [choiceOf(found.line)] : [] } : {};
    })
  );
}

/** What is kept of a large event in its place. */
export const inShort = (chunk: Json): Buffer => Buffer.from(`data: ${JSON.stringify({ choices: chunk['choices'] })}\n\n`);

/** What a body of JSON says of its usage, without parsing the rest of it. */
export const usageIn = async (body: Buffer): Promise<unknown> => statedUsage(await smallMembersOf(body, () => ({})));

/** The members of a body that may be cut anywhere. */
export const answerMembersIn = (body: Buffer): Promise<Json | undefined> => smallMembersOf(body, () => ({}), true);

/**
 * The members of an object that are small, without parsing the rest of it; undefined where it is no object. Other work has its turn meanwhile.
 * @param inPlace what replaces `choices`, and for a member that is large
 */
async function smallMembersOf(object: Buffer, inPlace: InPlace, mayBeCut = false): Promise<Json | undefined> {
  const { members, found, begun } = smallMembers(inPlace);
  const rest = breather();
  for (let at = 0; at < object.length; at += PIECE_BYTES) {
    members.take(object.subarray(at, at + PIECE_BYTES));
    await rest();
  }
  if (!mayBeCut) return members.isComplete ? found : undefined;
  const { name, text } = begun();
  return isUsageName(name) ? { ...found, [name]: usageSoFar(text) } : found;
}

type InPlace = (name: string, elements: number) => Json;

interface SmallMembers {
  readonly members: JsonMembers;
  readonly found: Readonly<Record<string, unknown>>;
  /** The member whose end has not come. */
  begun(): { readonly name: string; readonly text: string };
}

function smallMembers(inPlace: InPlace): SmallMembers {
  const found: Record<string, unknown> = {};
  let name = '';
  let value: Buffer[] = [];
  let bytes = 0;
  const members = new JsonMembers({
    begin: (begun) => {
      name = begun;
      value = [];
      bytes = 0;
    },
    value: (part) => {
      bytes += part.length;
      // What it came in is not to be kept for it.
      if (bytes <= MOST_MEMBER_BYTES && isAsked(name)) value.push(Buffer.from(part));
    },
    end: (elements) => {
      if (name === 'choices' || bytes > MOST_MEMBER_BYTES) Object.assign(found, inPlace(name, elements));
      else if (isAsked(name)) found[name] = jsonIn(Buffer.concat(value).toString('utf8'));
      name = '';
    },
  });
  return { members, found, begun: () => ({ name, text: Buffer.concat(value).toString('utf8') }) };
}

function choiceOf(event: Buffer): Json {
  const middle = event.length >> 1;
  const content = event.toString('latin1', middle, middle + SAMPLE_BYTES);
  return { index: 0, delta: { content }, finish_reason: event.includes(FINISHED) ? 'stop' : null };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
