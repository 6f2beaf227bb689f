import { createServer, type Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Call, RunningCalls } from '../inference/calls/index.ts';
import { silentLog } from '../kernel/log.ts';
import { Closing } from './closing.ts';
import { Readiness } from './health.ts';
import { openListeners } from './listeners.ts';

function listen(server: Server, closing: Closing, { running, timeoutMs }: { running: RunningCalls; timeoutMs: number }) {
  return openListeners(
    { shared: server, dedicated: undefined, operations: undefined },
    {
      config: { host: '127.0.0.1', port: 0, dedicated: undefined, operations: undefined, drain: { delayMs: 0, timeoutMs } },
      closing,
      readiness: new Readiness(),
      inference: { running, sessions: { drain: () => {} } },
      authority: undefined,
    },
  );
}

test('a stream that is cut says so to its client once it is settled', async () => {
  const running = new RunningCalls({ readOnMs: 600_000, mostLeftPerKey: 1 });
  const server = createServer((_, res) => {
    const call = running.begin({ signal: new AbortController().signal, headers: {}, work: {}, grant: { principal: {} } } as Call);
    call.signal.addEventListener('abort', async () => {
      await setTimeout(100);
      res.end('cut');
      call.end();
    });
    res.write('begun, ');
  });
  const closing = new Closing(silentLog());
  const { url } = await listen(server, closing, { running, timeoutMs: 50 });
  const asked = await fetch(url);
  const [text] = await Promise.all([asked.text().catch(() => 'reset'), closing.close()]);
  expect(text).toBe('begun, cut');
});

test('a call that is begun while the gateway drains is cut before its provider is closed', async () => {
  const running = new RunningCalls({ readOnMs: 600_000, mostLeftPerKey: 1 });
  const [arrived, store] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const endings: (string | undefined)[] = [];
  const server = createServer(async (_, res) => {
    const left = new AbortController();
    res.on('close', () => left.abort());
    arrived.resolve();
    // Its account is asked for in a database that does not answer at once: no provider is at work yet.
    await store.promise;
    const call = running.begin({ signal: left.signal, headers: {}, work: {}, grant: { principal: {} } } as Call);
    call.signal.addEventListener('abort', () => {
      endings.push(call.endedBy);
      call.end();
      res.destroy();
    });
  });
  const closing = new Closing(silentLog());
  closing.add('providers', async () => void endings.push('closed'));
  const { url } = await listen(server, closing, { running, timeoutMs: 200 });
  const asked = fetch(url).catch(() => 'cut off');
  await arrived.promise;
  const closed = closing.close();
  // By then nothing is at work, and the connections have some time left.
  await running.drain(0);
  store.resolve();
  await closed;
  expect(await asked).toBe('cut off');
  expect(endings).toEqual(['shutdown', 'closed']);
});
