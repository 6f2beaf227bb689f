import { once } from 'node:events';

/** Where a process with `--inspect` listens, out of what it has written. @throws where it does not say */
export function inspectorOf(output: string): string {
  const url = /Debugger listening on (ws:\S+)/.exec(output)?.[1];
  if (!url) throw new Error('The process does not say where its inspector listens');
  return url;
}

/**
 * What a process has resident once its garbage is collected, MB. Before that it says little: a process that is idle keeps what it last had in
 * use and any amount of garbage, 150 MB more or less from one minute to the next.
 */
export async function residentMb(inspector: string): Promise<number> {
  const socket = new WebSocket(inspector);
  await once(socket, 'open');
  try {
    await asked(socket, 1, 'HeapProfiler.collectGarbage');
    const { value } = await asked(socket, 2, 'Runtime.evaluate', { expression: 'process.memoryUsage.rss()' });
    return Math.round(Number(value) / 1024 / 1024);
  } finally {
    socket.close();
  }
}

async function asked(socket: WebSocket, id: number, method: string, params: object = {}): Promise<{ readonly value?: unknown }> {
  socket.send(JSON.stringify({ id, method, params }));
  for (;;) {
    const [{ data }] = (await once(socket, 'message')) as [MessageEvent<string>];
    const message = JSON.parse(data) as { id?: number; result?: { result?: { value?: unknown } } };
    if (message.id === id) return message.result?.result ?? {};
  }
}
