import type { ServerResponse } from 'node:http';

/** Acts once nobody reads the answer any more: at once where its client has left already, while its credential was looked up, which no event says again. */
export function whenClosed(res: ServerResponse, act: () => void): void {
  if (res.closed) act();
  else res.once('close', act);
}
