import { isRecord } from '../usage.ts';
import { type FieldRule, type FieldRules, refused, type Unpriced } from './field-rule.ts';

const WHAT = 'files that are kept at the provider';
const NAMES = ['files', 'file_ids', 'attachments', 'vector_store_ids'] as const;

const isNone = (value: unknown): boolean => value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Of a request: what only the provider knows the length of. */
export const KEPT_FILES: FieldRules = Object.fromEntries(NAMES.map((name): [string, FieldRule] => [name, refused(WHAT, isNone)]));

/** Files that a message or an item has beside its content, or a part of its content beside its text. */
export function keptFilesOf(message: Readonly<Record<string, unknown>>, param: string): Unpriced | undefined {
  const beside = keptAt(message, param);
  if (beside) return beside;
  for (const list of ['content', 'output']) {
    const parts = message[list];
    if (!Array.isArray(parts)) continue;
    for (const [index, part] of parts.entries()) {
      const found = isRecord(part) ? keptInPart(part, `${param}.${list}[${index}]`) : undefined;
      if (found) return found;
    }
  }
  return undefined;
}

function keptAt(holder: Readonly<Record<string, unknown>>, param: string): Unpriced | undefined {
  const name = NAMES.find((one) => !isNone(holder[one]));
  return name && { param: `${param}.${name}`, what: WHAT };
}

/** A part that is no text is counted as what it is, its `file_id` with it. */
function keptInPart(part: Readonly<Record<string, unknown>>, param: string): Unpriced | undefined {
  if (/text|refusal/.test(String(part['type'])) && !isNone(part['file_id'])) return { param: `${param}.file_id`, what: WHAT };
  return keptAt(part, param);
}
