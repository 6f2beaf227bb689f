import { statedUsage } from '../../../kernel/stated-usage.ts';
import type { Words } from '../fault.ts';
import { isRecord, jsonIn, textIn } from '../json-value.ts';

/** `messages.2.content.0.image: could not process`: the field that a message begins with. */
const FIELD = /^([a-z_]+(?:\.[\w-]+)*): /;

/**
 * Reads `{ type: "error", error: { type, message }, request_id }` (https://platform.claude.com/docs/en/api/errors).
 * Of what says 400, our empty account is not the caller's fault; and what OpenAI's clients look for by its code gets that.
 */
export function refusalWords(text: string): Words {
  const body = jsonIn(text);
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : undefined;
  const message = textIn(error?.['message']) ?? text;
  const isTooLong = /^prompt is too long|exceed context limit/.test(message);
  const param = FIELD.exec(message)?.[1] ?? null;
  return {
    message,
    param: isTooLong ? 'messages' : param,
    code: isTooLong ? 'context_length_exceeded' : (textIn(error?.['type']) ?? null),
    usage: statedUsage(body),
    blames: /credit balance is too low|API usage limits/i.test(message) ? 'gateway' : undefined,
  };
}
