import type { ClientRequestStatus, ClientRequestType, MarketingClientRequestUpdateRequest } from '@tallygate/contract';
import { Problem } from '../../kernel/problem.ts';

/** A row of `client_requests`. */
export interface ClientRequest {
  readonly request_id: string;
  readonly type: ClientRequestType;
  readonly status: ClientRequestStatus;
  readonly name: string;
  readonly email: string;
  readonly company: string | null;
  readonly client_type: 'individual' | 'startup' | 'business' | 'enterprise' | null;
  readonly message: string;
  readonly owner: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Set while it is done or declined. */
  readonly closed_at: Date | null;
}

const isClosed = (status: ClientRequestStatus): boolean => status === 'done' || status === 'declined';

/** Nothing becomes new again, and what is closed is first taken up again. */
const mayGo = (from: ClientRequestStatus, to: ClientRequestStatus): boolean => (isClosed(from) ? to === 'in_progress' : to !== 'new');

/** @throws Problem `conflict` for a step that makes no sense; to stay where it is makes sense */
export function moved(
  request: ClientRequest,
  { status = request.status, type = request.type, owner = request.owner }: MarketingClientRequestUpdateRequest,
  now: Date,
): ClientRequest {
  const { status: before } = request;
  if (status !== before && !mayGo(before, status))
    throw new Problem('conflict', `The request is ${before}: it cannot become ${status}.`, { param: 'status' });
  return { ...request, type, owner, status, closed_at: isClosed(status) ? (request.closed_at ?? now) : null };
}
