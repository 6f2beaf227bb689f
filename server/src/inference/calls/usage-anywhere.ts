import { usageSoFar } from '../../kernel/json-so-far.ts';

/** So much of a body is looked through, at either end. */
const LOOKED_THROUGH_BYTES = 64 * 1024;
/** More of them in one body are those of a stream's chunks: the last one tells. */
const MOST_FOUND = 8;
/** A usage is no longer. */
const MOST_CHARACTERS = 4_096;
const NAMED = /"usage"\s*:\s*(?=\{)/g;

/**
 * The last usage that stands anywhere in a body that is no answer of its endpoint: a list, an answer inside of another object, a stream where
 * none was asked for. Marked, since in such a body it is the least that is known.
 */
export function usageAnywhere(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  const isWhole = body.length <= 2 * LOOKED_THROUGH_BYTES;
  const ends = isWhole ? [body] : [body.subarray(0, LOOKED_THROUGH_BYTES), body.subarray(-LOOKED_THROUGH_BYTES)];
  return ends.map((end) => lastUsageIn(end.toString('utf8'))).findLast((usage) => usage !== undefined);
}

const lastUsageIn = (text: string) =>
  [...text.matchAll(NAMED)]
    .slice(-MOST_FOUND)
    .map(({ index, 0: name }) => usageSoFar(objectAt(text, index + name.length)))
    .findLast((usage) => usage !== undefined);

/** From its brace to the one that closes it. Its members are counts and names, which have no braces. */
function objectAt(text: string, from: number): string {
  let depth = 0;
  const most = Math.min(text.length, from + MOST_CHARACTERS);
  for (let at = from; at < most; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return text.slice(from, at + 1);
  }
  return text.slice(from, most);
}
