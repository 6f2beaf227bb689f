import { isRecord, jsonIn, textIn } from '../json-value.ts';
import type { Frame } from './event-frames.ts';
import { eventOf } from './framed-stream.ts';

/** An exception in the middle of a stream, as Anthropic's event of an error, which ends one. */
export function errorEvent({ name, payload }: Frame): string {
  const stated = jsonIn(payload);
  const { message, originalMessage, usage } = isRecord(stated) ? stated : {};
  const error = { type: name, message: textIn(message) ?? textIn(originalMessage) ?? 'The provider broke the stream off.' };
  return eventOf(JSON.stringify({ type: 'error', error, ...(isRecord(usage) && { usage }) }), 'error');
}
