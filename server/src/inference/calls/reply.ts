import type { OutgoingHttpHeaders } from 'node:http';

/** An answer, ready to be sent. */
export interface Reply {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}
