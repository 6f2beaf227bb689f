import { hash } from 'node:crypto';

/** The `ETag` of an answer (RFC 9110, 8.8.3): equal for equal bodies. */
export const entityTagOf = (body: unknown): string => `"${hash('sha256', JSON.stringify(body), 'base64url').slice(0, 22)}"`;

/**
 * Whether the caller has that answer already. Compared weakly, as RFC 9110 (13.1.2) wants it: a proxy that compresses marks the tags that
 * it passes on with `W/`.
 * @param ifNoneMatch the header: `*`, or tags separated by commas
 */
export const isFresh = (ifNoneMatch: string | undefined, tag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')));
