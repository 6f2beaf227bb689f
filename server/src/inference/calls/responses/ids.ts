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

/** Items are listed and referred to later, and for that need ids. One that could be no id is replaced. */
export const withId = (item: ResponseItem): ResponseItem =>
  isId(item.id) ? item : { ...item, id: `${prefixOf(item)}_${randomBytes(24).toString('hex')}` };

/** The database stores any text but U+0000 and halves of surrogate pairs. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\u{fffd}');

export const storablePairs = (pairs: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(pairs).map(([name, value]) => [storable(name), storable(value)]));
