import type { Worker } from 'node:cluster';
import * as z from 'zod';

/** What the primary process of `node:cluster` sends with each connection that it deals out, and what the worker says once it has it. */
const Dealt = z.object({ cmd: z.literal('NODE_CLUSTER'), act: z.literal('newconn'), seq: z.number() });
const Taken = z.object({ cmd: z.literal('NODE_CLUSTER'), ack: z.number() });

interface Connection {
  close(): void;
}

/**
 * Ends the connections that a worker was given and had not taken when it ended. `node:cluster` keeps a copy of each until the worker says that it
 * has it, and forgets them with the worker: a client on one of them waited until it gave up.
 */
export function endUntaken(worker: Worker): void {
  const untaken = new Map<number, Connection>();
  const { process } = worker;
  const { send } = process;
  process.send = (...args: unknown[]): boolean => {
    const [message, connection] = args;
    const dealt = Dealt.safeParse(message);
    if (dealt.success && isConnection(connection)) untaken.set(dealt.data.seq, connection);
    return Reflect.apply(send, process, args);
  };
  process.on('internalMessage', (message: unknown) => {
    const taken = Taken.safeParse(message);
    if (taken.success) untaken.delete(taken.data.ack);
  });
  process.once('exit', () => {
    for (const connection of untaken.values()) connection.close();
  });
}

const isConnection = (handle: unknown): handle is Connection =>
  typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';
