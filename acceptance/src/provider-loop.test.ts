import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { ask, HELLO, problemOf } from './chat.ts';
import { Gateway } from './gateway.ts';

/** A gateway whose provider is itself, by an address that looks like another machine's: its requests come back with its key. */
const MODELS = ['gpt-4o-mini', 'gpt-4.1'];
let gateway: Gateway;
let key = '';
let rounds = 0;

const detour = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
  rounds += 1;
  const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
  const again = request(`${gateway.url}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(again);
});

beforeAll(async () => {
  detour.listen(0, '127.0.0.1');
  await once(detour, 'listening');
  const address = detour.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'detour', base_url: `http://127.0.0.1:${port}/v1`, models: MODELS }],
  });
  ({ key } = await (await Account.signUp(gateway, { plan: 'enterprise' })).createKey());
});
afterAll(async () => {
  await gateway?.remove();
  detour.close();
});

test.each([false, true])('a request that comes back to its gateway goes no further, and says why (streamed: %s)', async (stream) => {
  rounds = 0;
  const { status, code, detail } = problemOf(await ask(gateway, key, { ...HELLO, model: MODELS[stream ? 1 : 0], stream }));
  expect([status, code, rounds]).toEqual([508, 'provider_loop', 1]);
  expect(detail).toContain('one of its providers is this gateway itself');
});
