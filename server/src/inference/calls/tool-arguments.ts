import { isTooComplex } from '../../kernel/json-scan.ts';
import { readJson } from '../../kernel/read-json.ts';
import { type Json, LONGEST_PARSED } from './event-data.ts';
import { isRecord } from './usage.ts';

/** The arguments of a chat's tool call as the object that they are at Anthropic and Google. What a model wrote that is none is shown as what it is. */
export async function toolArguments(text: string): Promise<Json> {
  if (text.trim() === '') return {};
  const bytes = Buffer.from(text);
  if (bytes.length > LONGEST_PARSED && (await isTooComplex(bytes))) return { arguments: text };
  try {
    const value: unknown = await readJson(bytes);
    return isRecord(value) ? value : { arguments: value };
  } catch {
    return { arguments: text };
  }
}
