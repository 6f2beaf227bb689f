import { usageInText } from '../../kernel/stated-usage.ts';

/** So much of a body is looked through, at either end. */
const LOOKED_THROUGH_BYTES = 64 * 1024;

/**
 * The usage that stands anywhere in a body that is no answer of its endpoint: a list, an answer inside of another object, a stream where none
 * was asked for. Marked, since in such a body it is the least that is known.
 */
export function usageAnywhere(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  const isWhole = body.length <= 2 * LOOKED_THROUGH_BYTES;
  const ends = isWhole ? [body] : [body.subarray(0, LOOKED_THROUGH_BYTES), body.subarray(-LOOKED_THROUGH_BYTES)];
  return ends.map((end) => usageInText(end.toString('utf8'))).findLast((usage) => usage !== undefined);
}

/** The second is Cohere's. */
const NAMES = ['"usage"', '"billed_units"'].map((name) => Buffer.from(name));
/** What is larger is not looked through. */
const LARGEST_SEARCHED = 256 * 1024;

/**
 * The largest counts in JSON with several usages. Of a name that comes twice in one object `JSON.parse` knows the last alone. Undefined
 * where there is one at most.
 */
export function mostOfSeveral(json: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (json.length > LARGEST_SEARCHED || NAMES.every((name) => json.indexOf(name) === json.lastIndexOf(name))) return undefined;
  return usageInText(json.toString('utf8'));
}
