import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An endpoint of somebody, over HTTP on loopback: it keeps what it is sent, and answers as `answer` says. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  answer: (res: ServerResponse) => void;
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (req, res) => {
    receiver.received.push({ headers: req.headers, body: await text(req) });
    receiver.answer(res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: (res) => res.writeHead(204).end(),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
