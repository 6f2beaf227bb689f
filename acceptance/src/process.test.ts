import { once } from 'node:events';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Health } from '@tallygate/contract';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Account } from './account.ts';
import { ask, HELLO, isDone, MODEL, settledOnce } from './chat.ts';
import { Gateway } from './gateway.ts';
import { openSocket, readAnswer } from './raw-http.ts';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({ database: 'embedded', providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }] });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

describe('the first boot', () => {
  test('prints an address, two variables and a curl that work', async () => {
    const { output } = gateway.process;
    const { base_url, test_api_key } = gateway.bootstrap;
    expect(output).toContain(`export OPENAI_BASE_URL=${base_url}`);
    expect(output).toContain(`export OPENAI_API_KEY=${test_api_key}`);
    expect((await ask(gateway, test_api_key, HELLO)).status).toBe(200);
  });

  test('writes no secret to the log but the test key of the banner', () => {
    const { admin_password, internal_secret, metrics_token } = gateway.bootstrap;
    for (const secret of [admin_password, internal_secret, metrics_token]) expect(gateway.process.output).not.toContain(secret);
  });
});

describe('a second process on the same folder', () => {
  test('refuses to start, says who is there, and leaves the first one alone', async () => {
    const second = gateway.launch();
    expect(await second.exit).toMatchObject({ code: 1 });
    expect(second.output).toMatch(/did not start\. The data directory .* is in use by process \d+/);
    expect((await ask(gateway, key, HELLO)).status).toBe(200);
  });
});

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('lets a running stream come to its end, takes nothing new, and ends cleanly', async () => {
    upstream.script({ tokens: 12, gapMs: 60 });
    const arrived = upstream.nextRequest();
    const stream = ask(gateway, key, { ...HELLO, stream: true });
    await arrived;
    const address = new URL(gateway.url);
    const stopped = gateway.stop(signal);
    const answered = await stream;
    expect(isDone(answered)).toBe(true);
    expect(answered.text).toContain('tok11');
    expect(await stopped).toEqual({ code: 0, signal: null });
    await expect(fetch(address)).rejects.toThrow();

    await gateway.start();
    const { trace } = await settledOnce(gateway, account, answered);
    expect(trace).toMatchObject({ outcome: 'completed', usage: { output_tokens: 12 } });
  });

  test('is not held up by idle connections', async () => {
    const unused = openSocket(gateway);
    await fetch(`${gateway.url}/health/live`); // Its connection stays open.
    const startedAt = performance.now();
    await gateway.stop(signal);
    expect(performance.now() - startedAt).toBeLessThan(25_000);
    unused.destroy();
    await gateway.start();
  });
});

test('a journal that cannot be written is told by /health/ready, and when it can again', async () => {
  const ready = async () => {
    const answer = await fetch(`${gateway.url}/health/ready`);
    return [answer.status, ((await answer.json()) as Health).checks['journal']];
  };
  const journal = join(gateway.dataDir, 'journal');
  expect(await ready()).toEqual([200, 'ok']);
  renameSync(journal, `${journal}-away`);
  const away = await ready();
  renameSync(`${journal}-away`, journal);
  expect(away).toEqual([503, 'unavailable']);
  expect(await ready()).toEqual([200, 'ok']);
});

describe('DRAIN_DELAY_MS', () => {
  test('is how long a gateway that is not ready still answers, so that no request is reset', async () => {
    const draining = await Gateway.start({ env: { DRAIN_DELAY_MS: '6000' } });
    onTestFinished(() => draining.remove());
    const { test_api_key } = draining.bootstrap;
    // A keep-alive connection, from before.
    expect((await ask(draining, test_api_key, HELLO)).status).toBe(200);
    const startedTick = performance.now();
    const stopped = draining.stop();
    await vi.waitUntil(async () => (await fetch(`${draining.url}/health/ready`)).status === 503, { timeout: 120_000, interval: 10 });
    const health = await fetch(`${draining.url}/health/ready`);
    expect([await health.json(), health.headers.get('connection')]).toEqual([{ status: 'draining', checks: {} }, 'close']);
    const statuses = new Set<number>();
    while (performance.now() - startedTick < 1_000) statuses.add((await ask(draining, test_api_key, HELLO)).status);
    expect([...statuses]).toEqual([200]);
    expect(await stopped).toEqual({ code: 0, signal: null });
    await expect(fetch(draining.url)).rejects.toThrow();
  });
});

test('is stopped once by the signals of service manager, supervisor and script runner', async () => {
  const busy = await Gateway.start();
  onTestFinished(() => busy.remove());
  const { pid = 0 } = busy.process;
  for (const signal of ['SIGTERM', 'SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
    process.kill(pid, signal);
    await pause(20);
  }
  expect(await busy.process.exit).toEqual({ code: 0, signal: null });
});

describe.skipIf(process.platform !== 'linux')('a burst of connections while the gateway is held up', () => {
  test.each([1, 2])('is answered by %i processes, also when asked to stop: none is refused or reset', async (workers) => {
    // More than this the kernel keeps for no listener.
    const burst = Math.min(1_500, Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')));
    const half = Math.floor(burst / 2);
    const busy = await Gateway.start({ env: { WORKERS: `${workers}` } });
    onTestFinished(() => busy.remove());
    const { pid = 0 } = busy.process;
    process.kill(pid, 'SIGSTOP');
    const sockets = Array.from({ length: burst }, () => openSocket(busy));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    // One half has sent a request before the stop, in the other half a request arrives while it drains.
    const answers = sockets.map((socket) => readAnswer(socket));
    for (const socket of sockets.slice(0, half)) socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
    for (const socket of sockets.slice(half)) socket.write('GET /health/live HTTP/1.1\r\n');
    process.kill(pid, 'SIGTERM');
    process.kill(pid, 'SIGCONT');
    await Promise.all(answers.slice(0, half));
    for (const socket of sockets.slice(half)) socket.write('host: x\r\n\r\n');
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await busy.process.exit).toEqual({ code: 0, signal: null });
  });
});

describe('a later start', () => {
  test('finds accounts, keys and secrets again', async () => {
    const { base_url: _, ...before } = gateway.bootstrap;
    await gateway.stop();
    await gateway.start();
    expect(gateway.bootstrap).toMatchObject(before);
    expect((await ask(gateway, key, HELLO)).status).toBe(200);
    expect((await ask(gateway, before.test_api_key, HELLO)).status).toBe(200);
  });
});

describe('npm start', () => {
  const pidIn = (path: string) => Number(readFileSync(join(gateway.dataDir, path), 'utf8').split('\n')[0]);
  const isRunning = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('starts a killed gateway again on its database, and takes it along when killed itself', async () => {
    await gateway.stop();
    const supervisor = gateway.supervise();
    await supervisor.listening;
    const [killed, database] = [pidIn('server.pid'), pidIn('postgres/cluster/data/postmaster.pid')];
    process.kill(killed, 'SIGKILL');
    await vi.waitUntil(() => supervisor.output.split('Stop with Ctrl-C').length === 3, { timeout: 120_000 });
    expect(supervisor.output).toContain('Tallygate ended (SIGKILL). It is started again in 0.5 s.');
    const next = pidIn('server.pid');
    expect([next === killed, pidIn('postgres/cluster/data/postmaster.pid')]).toEqual([false, database]);
    await supervisor.signal('SIGKILL');
    await vi.waitUntil(() => !isRunning(next), { timeout: 120_000 });
    await gateway.start();
  });
});

describe('a wrong setting', () => {
  test.each([
    [{ PORT: '99999' }, /PORT/],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL/],
    [{ PROVIDERS_FILE: '/nowhere/providers.json' }, /PROVIDERS_FILE/],
    [{ DATABASE_URL: 'mysql://nowhere' }, /DATABASE_URL/],
  ])('%j ends the start with a sentence that names it, and exit code 78', async (env, message) => {
    const said = await Gateway.start({ env }).catch(String);
    expect(said).toContain('The gateway ended (78)');
    expect(said).toMatch(message);
  });

  test('of the data directory is reported too', async () => {
    await expect(Gateway.start({ env: { DATA_DIR: '/dev/null/data' } })).rejects.toThrow(/did not start/);
  });
});
