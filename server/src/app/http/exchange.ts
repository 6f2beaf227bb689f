import type { IncomingMessage } from 'node:http';
import type { Principal } from '../../identity/index.ts';

/** What the steps before a handler have found out about its request. */
interface Exchange {
  readonly requestId: string;
  /** Where the request comes from, proxies of ours left out. */
  readonly peerAddress: string | null;
  principal?: Principal;
  /** The body as received; empty when there is none or it was not read. */
  body: Buffer;
}

const exchanges = new WeakMap<IncomingMessage, Exchange>();
const NO_BODY = Buffer.alloc(0);

export function openExchange(request: IncomingMessage, requestId: string, peerAddress: string | null): void {
  exchanges.set(request, { requestId, peerAddress, body: NO_BODY });
}

export function exchangeOf(request: IncomingMessage): Exchange {
  const exchange = exchanges.get(request);
  if (!exchange) throw new Error('The request did not come in through the account API');
  return exchange;
}
