import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';

/**
 * What every Node gateway pays before it does anything: `node:http` in front, undici behind, bytes through with back-pressure. No credential,
 * no budget, no record. Started with the provider's origins; prints one address for each.
 */
const urls = await Promise.all(process.argv.slice(2).map(listen));
process.stdout.write(`${JSON.stringify({ urls })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit());

const CUT = new Error('The client hung up');

function listen(origin: string): Promise<string> {
  const pool = new Pool(origin, { connections: null, headersTimeout: 0, bodyTimeout: 0 });
  const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0 }, (req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => forward(pool, req, res, Buffer.concat(parts)));
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('The bare proxy has no TCP address');
      resolve(`http://127.0.0.1:${address.port}`);
    }),
  );
}

function forward(pool: Pool, req: IncomingMessage, res: ServerResponse, body: Buffer): void {
  const request: Dispatcher.DispatchOptions = {
    path: req.url ?? '/',
    method: 'POST',
    headers: ['content-type', 'application/json', 'authorization', req.headers.authorization ?? ''],
    body,
  };
  pool.dispatch(request, {
    onRequestStart: (controller) => {
      res.on('drain', () => controller.resume());
      res.on('close', () => {
        if (!res.writableFinished) controller.abort(CUT);
      });
    },
    onResponseStart: (_, status, { 'content-type': type, 'content-length': length }) => {
      res.writeHead(status, ['content-type', String(type), ...(length === undefined ? [] : ['content-length', String(length)])]);
    },
    onResponseData: (controller, chunk) => {
      if (!res.write(chunk)) controller.pause();
    },
    onResponseEnd: () => res.end(),
    onResponseError: () => res.destroy(),
  });
}
