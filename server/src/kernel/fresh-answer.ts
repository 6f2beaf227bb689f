import { hash } from 'node:crypto';

/** For how long anybody may keep a public answer without asking, seconds. */
const KEPT_SECONDS = 30;

/** A call that may come with the tag of an earlier answer. */
interface Conditional {
  setHeader(name: string, value: string): void;
  readonly headers: { readonly 'if-none-match'?: string | undefined };
}

/** A public answer with its ETag, or a 304 where the caller has it already (RFC 9110, 13.1.2). */
export function freshAnswer<Body>(call: Conditional, body: Body): { status: 200; body: Body } | { status: 304; body: undefined } {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const etag = `"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
  call.setHeader('etag', etag);
  call.setHeader('cache-control', `public, max-age=${KEPT_SECONDS}`);
  return holdsTag(call.headers['if-none-match'], etag) ? { status: 304, body: undefined } : { status: 200, body };
}

/**
 * Whether who asks has it already, by their `If-None-Match`. Compared weakly: proxies that compress mark what they pass on as weak.
 * @param etag in its quotes
 */
export const holdsTag = (given: string | undefined, etag: string): boolean =>
  (given ?? '').split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
