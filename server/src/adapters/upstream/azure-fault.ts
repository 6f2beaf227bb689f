import type { Words } from './fault.ts';
import { isRecord, jsonIn, textIn } from './json-value.ts';
import { openAiWords } from './openai-fault.ts';

/** Codes that speak of the deployment or the version we ask for, though Azure answers them with 400 as it does a wrong request. */
const GATEWAY_CODES = new Set([
  'OperationNotSupported',
  'UnsupportedApiVersion',
  'DeploymentNotFound',
  'ModelDeprecated',
  'unavailable_model',
]);

/**
 * Azure's refusals are OpenAI's where the model speaks. Its gateway before that gives a code and a message alone, the code often being the
 * status once more; its content filter says in an inner error what it found.
 */
export function azureWords(text: string): Words {
  const words = openAiWords(text);
  const code = words.code !== null && /^\d{3}$/.test(words.code) ? null : words.code;
  if (code !== null && GATEWAY_CODES.has(code)) return { ...words, code, blames: 'gateway' };
  const found = filteredCategories(text);
  // `prompt` is the field of an older endpoint: the filter means whatever was said.
  return code === 'content_filter' ? { ...words, message: words.message + found, code, param: null } : { ...words, code };
}

function filteredCategories(text: string): string {
  const document = jsonIn(text);
  const error = isRecord(document) ? document['error'] : undefined;
  const inner = isRecord(error) ? error['innererror'] : undefined;
  const result = isRecord(inner) ? inner['content_filter_result'] : undefined;
  if (!isRecord(result)) return '';
  const found = Object.entries(result).flatMap(([category, verdict]) => {
    if (!isRecord(verdict) || verdict['filtered'] !== true) return [];
    const severity = textIn(verdict['severity']);
    return severity === undefined ? category : `${category}: ${severity}`;
  });
  return found.length === 0 ? '' : ` (${found.join(', ')})`;
}
