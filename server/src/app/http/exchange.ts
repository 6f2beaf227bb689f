import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../http/index.ts';
import type { Grant } from './credentials.ts';
import type { RequestIds } from './request-ids.ts';

/** One request on its way, with what the steps of the pipeline have found out about it. */
export interface Exchange extends RequestIds {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** As it was sent, which is what its caller signs: `req.url` has our own name of what is asked for. */
  readonly sentTarget: string;
  /** The path, without its query. */
  readonly pathname: string;
  /** The model that the path names, where it is one of Azure's. */
  readonly deployment?: string | undefined;
  /** The values of the path parameters of its route, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The same moment as `performance.now()`. */
  readonly startedTick: number;
  /** Whose credential was proven, before it is asked what it may do; undefined where there is none, or none yet. */
  grant: Grant | undefined;
  /** When the caller was let in, as `performance.now()`. */
  checkedTick: number;
}

/** @throws where the route does not ask for a credential: a defect */
export function grantOf({ grant }: Exchange): Grant {
  if (grant === undefined) throw new Error('Asked for the caller of a route that asks for none');
  return grant;
}

export const principalOf = (exchange: Exchange): Principal => grantOf(exchange).principal;
