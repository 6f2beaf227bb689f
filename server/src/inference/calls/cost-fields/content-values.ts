import { isRecord } from '../usage.ts';
import type { FieldRules } from './field-rule.ts';
import { snakeCase } from './names-of-content.ts';

/** Of a longer text only so much is looked at. */
const LOOKED_AT = 2_048;
const DATA_URL = /^\s*data:[\w.+/-]*[;,]/i;
const ADDRESS = /^\s*(?:https?|ftp|gs|s3|file):\/\/\S+\s*$/i;
const FILE_ID = /^\s*file[-_][\w-]{6,}\s*$/;
/** A picture of a few dozen pixels has that many, and no text is as long without a blank. */
const BASE64 = /^[\w+/=-]{512,}$/;
/** An address of the caller, or of what is to be called. */
const CALLERS = /(?:^|_)(?:webhook|callback|redirect|base|api|proxy|site|website|app|avatar|icon|referr?er|origin|homepage)(?:_|$)/;

/** Whether a text is an image, a recording or a document, or says where one is, in a field that is in no table. */
export function isContent(text: string, name: string): boolean {
  const begin = text.slice(0, LOOKED_AT);
  if (DATA_URL.test(begin) || FILE_ID.test(begin) || BASE64.test(begin)) return true;
  return ADDRESS.test(begin) && !CALLERS.test(snakeCase(name));
}

/** The bytes of the texts in fields that are in no table: what a provider reads of them it may bill as a part of the prompt. */
export const bytesBeside = (request: Readonly<Record<string, unknown>>, fields: FieldRules): number =>
  Object.keys(request).reduce((sum, name) => (Object.hasOwn(fields, name) ? sum : sum + bytesIn(request[name])), 0);

function bytesIn(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + bytesIn(one), 0);
  return isRecord(value) ? Object.keys(value).reduce((sum, name) => sum + name.length + bytesIn(value[name]), 0) : 0;
}
