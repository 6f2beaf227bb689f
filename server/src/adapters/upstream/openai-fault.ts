import { statedUsage } from '../../kernel/stated-usage.ts';
import type { Words } from './fault.ts';

/** Reads OpenAI's `{ error: { message, param, code } }` and what its imitators make of it; any other text is the message. */
export function openAiWords(text: string): Words {
  const document = parsed(text);
  const body: unknown = Array.isArray(document) ? document[0] : document; // Google wraps the object in a list.
  const error = isRecord(body) && 'error' in body ? body['error'] : body;
  const usage = statedUsage(body);
  if (typeof error === 'string') return { message: error, param: null, code: null, usage };
  if (!isRecord(error)) return { message: text, param: null, code: null, usage };
  const message = textIn(error['message']) ?? textIn(error['detail']) ?? text;
  return { message, param: textIn(error['param']), code: textIn(error['code']), type: textIn(error['type']), usage };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
