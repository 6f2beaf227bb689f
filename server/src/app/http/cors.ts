import type { IncomingHttpHeaders } from 'node:http';

const EXPOSED = [
  'X-Request-Id',
  'request-id',
  'X-Receipt-Id',
  'X-Receipt-Promise',
  'X-Model-Served',
  'X-Provider',
  'X-Overhead-Ms',
  'X-Fallback',
  'X-Cost-USD',
  'X-Cache',
  'Age',
  'X-VaaS-Anchor',
  'X-Budget-Max-Tokens',
  'X-Agent-Budget-Limit-USD',
  'X-Agent-Budget-Spent-USD',
  'X-Agent-Budget-Remaining-USD',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'Content-Disposition',
  'Content-Range',
  'Idempotent-Replayed',
  'Retry-After',
  'WWW-Authenticate',
  'x-should-retry',
];

/**
 * Any page may call, with a credential it was given, and none with cookies: `*` allows no credentials, and the console's cookie counts only
 * beside a header that a page of another origin may not send along with it (`session-cookie.ts`). So no page can act for its visitor.
 */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED.join(', '),
};

/** The answer (204) to a preflight. The headers asked for are granted by name: `*` does not cover `Authorization`. */
export function preflightHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const asked = headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': asked ?? 'Authorization, Content-Type',
    'access-control-max-age': '86400',
    vary: 'Access-Control-Request-Headers',
  };
}
