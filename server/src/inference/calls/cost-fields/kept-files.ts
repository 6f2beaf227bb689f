import { type FieldRule, type FieldRules, refused } from './field-rule.ts';

const WHAT = 'files that are kept at the provider';
const NAMES = ['files', 'file_ids', 'attachments', 'vector_store_ids'] as const;

/** No value, or an empty one. */
export const isNone = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Of a request: what only the provider knows the length of. */
export const KEPT_FILES: FieldRules = Object.fromEntries(NAMES.map((name): [string, FieldRule] => [name, refused(WHAT, isNone)]));
