import type { IncomingHttpHeaders } from 'node:http';

/** Over TLS, where no other host or path can set it (RFC 6265bis, 4.1.3.2). */
const SECURE_NAME = '__Host-tallygate_session';
/** Over plain HTTP, on the machine itself, browsers keep no name with that prefix. */
const PLAIN_NAME = 'tallygate_session';
/** Pages of this origin send it; one of another origin would first have to ask, and is never told that it may send cookies. */
const GUARD = 'x-csrf-protection';
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';
/** As long as a session lives at most: 90 days. The server ends it earlier. */
const MAX_AGE_SECONDS = 7_776_000;

/**
 * The session token of the console's cookie, and only for requests that a page of this very origin made: those carry `X-CSRF-Protection`,
 * and browsers say `same-origin` where they say anything. Undefined for all others, whatever cookies they have.
 */
export function sessionOfCookie(headers: IncomingHttpHeaders): string | undefined {
  const { cookie } = headers;
  if (cookie === undefined || headers[GUARD] === undefined) return undefined;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return undefined;
  const values = new Map(
    cookie.split(';').map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()]),
  );
  return values.get(SECURE_NAME) ?? values.get(PLAIN_NAME);
}

/** `Set-Cookie` that keeps a session in the browser. @param isHttps whether clients reach the service over TLS */
export const cookieOfSession = (token: string, isHttps: boolean): string =>
  `${nameOf(isHttps)}=${token}; ${ATTRIBUTES}${isHttps ? '; Secure' : ''}; Max-Age=${MAX_AGE_SECONDS}`;

/** `Set-Cookie` that takes it from the browser. */
export const noCookie = (isHttps: boolean): string => `${nameOf(isHttps)}=; ${ATTRIBUTES}${isHttps ? '; Secure' : ''}; Max-Age=0`;

const nameOf = (isHttps: boolean): string => (isHttps ? SECURE_NAME : PLAIN_NAME);
