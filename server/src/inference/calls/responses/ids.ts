import { randomBytes } from 'node:crypto';
import type { ResponseItem } from '@tallygate/contract';

/** What an id of ours, or of a provider, looks like. What does not is nobody's, and never reaches the database, which trips over U+0000. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}$/;

export const isId = (id: unknown): id is string => typeof id === 'string' && ID.test(id);

/** As unguessable as OpenAI's. */
export const newResponseId = (): string => `resp_${randomBytes(24).toString('hex')}`;

/** Of a chat completion that is kept: its provider may give one id twice. */
export const newChatId = (): string => `chatcmpl-${randomBytes(24).toString('hex')}`;

const PREFIXES: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', function_call_output: 'fco', reasoning: 'rs' };
const prefixOf = ({ type = 'message' }: ResponseItem): string => PREFIXES[type] ?? 'item';

const ITEM_ID_BYTES = 24;

/** Items are listed and referred to later, and for that need ids. One that could be no id is replaced. */
export const withId = (item: ResponseItem): ResponseItem => (isId(item.id) ? item : withIdOf(item, randomBytes(ITEM_ID_BYTES)));

/** The randomness of all of them is asked for once: thousands of short waits for the kernel add up. */
export function withIds(items: readonly ResponseItem[]): ResponseItem[] {
  const random = randomBytes(ITEM_ID_BYTES * items.length);
  return items.map((item, at) => (isId(item.id) ? item : withIdOf(item, random.subarray(at * ITEM_ID_BYTES, (at + 1) * ITEM_ID_BYTES))));
}

const withIdOf = (item: ResponseItem, random: Buffer): ResponseItem => ({ ...item, id: `${prefixOf(item)}_${random.toString('hex')}` });

/** The database stores any text but U+0000 and halves of surrogate pairs. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\u{fffd}');

export const storablePairs = (pairs: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(pairs).map(([name, value]) => [storable(name), storable(value)]));
