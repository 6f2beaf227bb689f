import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SplitView {
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A gateway as one customer alone is shown it: all is as it is, but for the witnesses in the agent document. */
export async function showOtherWitnesses(gatewayUrl: string, witnessPolicy: string | null): Promise<SplitView> {
  const server = createServer(async (request, response) => {
    const answer = await fetch(`${gatewayUrl}${request.url}`, { headers: { authorization: request.headers.authorization ?? '' } });
    const body = Buffer.from(await answer.arrayBuffer());
    const type = answer.headers.get('content-type') ?? '';
    response.writeHead(answer.status, { 'content-type': type, 'x-request-id': answer.headers.get('x-request-id') ?? '' });
    response.end(request.url === '/.well-known/agent.json' ? withPolicy(body, witnessPolicy) : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function withPolicy(document: Buffer, witness_policy: string | null): string {
  const { log, ...rest } = JSON.parse(document.toString());
  return JSON.stringify({ ...rest, log: { ...log, witness_policy } });
}
