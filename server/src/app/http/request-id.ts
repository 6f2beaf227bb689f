import type { IncomingHttpHeaders } from 'node:http';
import { isWellFormedRequestId, newRequestId } from '../../kernel/ids.ts';

/** The caller's own `X-Request-Id` where it is well-formed, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && isWellFormedRequestId(given) ? given : newRequestId();
}
