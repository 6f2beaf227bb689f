import type { IncomingHttpHeaders } from 'node:http';
import type { Surface } from '@tallygate/contract';
import { isWellFormedRequestId, newRequestId } from '../../kernel/ids.ts';

export interface RequestIds {
  /** Ours: no two requests have the same. */
  readonly requestId: string;
  /** The caller's own `X-Request-Id`, where it is well-formed. */
  readonly clientRequestId: string | null;
  /** In whose form it is answered; absent: in our own. */
  readonly surface?: Surface | undefined;
}

export function requestIdsOf(headers: IncomingHttpHeaders): RequestIds {
  const given = headers['x-request-id'];
  return { requestId: newRequestId(), clientRequestId: typeof given === 'string' && isWellFormedRequestId(given) ? given : null };
}

/** The id that the answer carries, and that its caller will quote. */
export const shownIdOf = ({ requestId, clientRequestId }: RequestIds): string => clientRequestId ?? requestId;
