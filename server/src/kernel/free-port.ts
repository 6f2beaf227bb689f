import { once } from 'node:events';
import { createServer } from 'node:net';

/** A TCP port at which nobody listens: for a program whose port has to be known before it listens. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const probe = createServer().listen(0, host);
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error(`No TCP port is free on ${host}`);
  return address.port;
}
