import { isRecord, jsonIn, textIn } from '../json-value.ts';
import { saysTooLong } from './error-words.ts';
import type { Frame } from './event-frames.ts';
import { eventOf } from './framed-stream.ts';

/** An exception in the middle of a stream, as Anthropic's event of an error, which ends one. */
export function errorEvent({ name, payload }: Frame): string {
  const stated = jsonIn(payload);
  const { message, originalMessage, usage } = isRecord(stated) ? stated : {};
  const said = textIn(message) ?? textIn(originalMessage) ?? 'The provider broke the stream off.';
  const error = { type: saysTooLong(name, said) ? 'context_length_exceeded' : name, message: said };
  return eventOf(JSON.stringify({ type: 'error', error, ...(isRecord(usage) && { usage }) }), 'error');
}
