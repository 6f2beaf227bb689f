import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { LiveFigures } from '@tallygate/contract';
import { afterEach, expect, test, vi } from 'vitest';
import { Problem } from '../../kernel/problem.ts';
import type { LiveAccounts } from '../../money/live/index.ts';
import type { AccessControl } from './access-control.ts';
import type { Exchange } from './exchange.ts';
import { withLiveStream } from './live-api.ts';
import type { ServedRoute } from './router.ts';

const ROUTE: ServedRoute = { method: 'GET', path: '/v1/live', kind: 'api', answer: () => {} };
/** More than the sockets of a client that does not read take. */
const LARGE = { budgets: { items: 'x'.repeat(16 * 1024 * 1024) } } as unknown as LiveFigures;

/** A stream of a real server, whose account is told of figures by `tell`. @param admitted for how long its caller is looked up */
async function streaming(admitted: (res: ServerResponse) => Promise<unknown> = async () => {}) {
  const state = { isDraining: false, refusal: undefined as Problem | undefined, followers: 0, errors: [] as unknown[] };
  let tell: (figures: LiveFigures) => void = () => {};
  const accounts = {
    follow(_principal, onChange) {
      state.followers += 1;
      tell = onChange;
      const close = () => {
        state.followers = 0;
      };
      return { close };
    },
  } satisfies Pick<LiveAccounts, 'follow'>;
  const recheck = async () => {
    if (state.refusal) throw state.refusal;
  };
  const deps = { accounts, accessControl: { recheck }, isDraining: () => state.isDraining } as unknown as {
    accounts: LiveAccounts;
    accessControl: AccessControl;
    isDraining: () => boolean;
  };
  const [served] = withLiveStream([ROUTE], deps);
  let answer: ServerResponse | undefined;
  const answered = Promise.withResolvers<void>();
  const server = createServer(async (req, res) => {
    answer = res;
    res.on('error', (error) => state.errors.push(error));
    await admitted(res);
    await served?.answer({ req, res, grant: { principal: { accountId: 'a' } } } as unknown as Exchange);
    answered.resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1', () => client.write('GET /v1/live?stream=true HTTP/1.1\r\nhost: a\r\n\r\n'));
  await answered.promise;
  onEnd(() => {
    client.destroy();
    server.close();
  });
  return { state, client, answer: () => answer, tell: (figures: LiveFigures) => tell(figures) };
}

const ends: (() => void)[] = [];
const onEnd = (end: () => void): void => void ends.push(end);
afterEach(() => {
  vi.useRealTimers();
  for (const end of ends.splice(0)) end();
});

test('a client that does not read is told of the end once, and cut when it reads on too late', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  const { state, client, answer, tell } = await streaming();
  client.pause();
  tell(LARGE);
  state.isDraining = true;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(answer()?.writableLength).toBeGreaterThan(0);
  expect(state).toMatchObject({ errors: [], followers: 0 });
  const closed = once(answer() as ServerResponse, 'close');
  await vi.advanceTimersByTimeAsync(15_000);
  await closed;
  expect(state.errors).toEqual([]);
});

test('a stream ends within ten seconds of its credential, and goes on while the store is away', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  const { state, client } = await streaming();
  const said: string[] = [];
  client.on('data', (bytes) => said.push(String(bytes)));
  state.refusal = new Problem('store_unavailable', 'The store is away.');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.followers).toBe(1);
  state.refusal = new Problem('invalid_credentials', 'The session has ended.');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(state.followers).toBe(0);
  await vi.waitFor(() => expect(said.join('')).toContain('data: [DONE]'));
});

test('nothing is told of what is spent once the credential has ended, and the stream ends', async () => {
  const { state, client, tell } = await streaming();
  const said: string[] = [];
  client.on('data', (bytes) => said.push(String(bytes)));
  tell({ budgets: [] } as unknown as LiveFigures);
  await vi.waitFor(() => expect(said.join('')).toContain('data: {"budgets":[]}'));
  state.refusal = new Problem('invalid_credentials', 'The session has ended.');
  tell({ runs: [] });
  await vi.waitFor(() => expect(said.join('')).toContain('data: [DONE]'));
  expect(said.join('')).not.toContain('runs');
  expect(state).toMatchObject({ errors: [], followers: 0 });
});

test('a stream whose client left while its credential was looked up is no stream of its account', async () => {
  const { state } = await streaming(async (res) => {
    res.socket?.destroy();
    await once(res, 'close');
  });
  expect(state).toMatchObject({ errors: [], followers: 0 });
});
