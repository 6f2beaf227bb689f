import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openGuardedHttp } from './guarded-http.ts';
import type { WebhookSender } from './port.ts';
import { publicAddresses } from './public-addresses.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function receiver(listener: RequestListener): Promise<{ port: number; server: Server }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server };
}

function sender(options: Partial<Parameters<typeof openGuardedHttp>[0]> = {}): WebhookSender {
  const opened = openGuardedHttp({ allowed: ['127.0.0.1'], ...options });
  closing.push(() => opened.close());
  return opened;
}

const post = (to: WebhookSender, url: string) =>
  to.post({ url: new URL(url), headers: { 'content-type': 'application/json' }, body: '{}' });
/** A resolver that answers every name with these addresses. */
const resolvesTo =
  (addresses: readonly string[]): LookupFunction =>
  (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

test('sends the body and takes a status of 2xx for a success', async () => {
  const bodies: string[] = [];
  const { port } = await receiver(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    bodies.push(`${req.method} ${req.url} ${body}`);
    res.writeHead(204).end();
  });
  expect(await post(sender(), `http://127.0.0.1:${port}/hook?a=1`)).toMatchObject({ statusCode: 204, error: null });
  expect(bodies).toEqual(['POST /hook?a=1 {}']);
});

test('reports an error status, a reset, and an answer that does not come in time', async () => {
  const failing = await receiver((_req, res) => res.writeHead(500).end('no'));
  expect(await post(sender(), `http://127.0.0.1:${failing.port}/`)).toMatchObject({ statusCode: 500, error: 'rejected' });
  const resetting = await receiver((req) => req.socket.resetAndDestroy());
  expect(await post(sender(), `http://127.0.0.1:${resetting.port}/`)).toMatchObject({ statusCode: null, error: 'connection_failed' });
  const slow = await receiver(() => {});
  expect(await post(sender({ timeoutMs: 50 }), `http://127.0.0.1:${slow.port}/`)).toMatchObject({ statusCode: null, error: 'timed_out' });
});

test('follows no redirect', async () => {
  let reached = 0;
  const target = await receiver((_req, res) => {
    reached += 1;
    res.end();
  });
  const { port } = await receiver((_req, res) => res.writeHead(307, { location: `http://127.0.0.1:${target.port}/` }).end());
  expect(await post(sender(), `http://127.0.0.1:${port}/`)).toMatchObject({ statusCode: 307, error: 'redirected' });
  expect(reached).toBe(0);
});

test('reads no more of an endless answer than its bound, and counts its status', async () => {
  let written = 0;
  const { port } = await receiver((_req, res) => {
    res.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024);
    const write = () => {
      while (!res.destroyed && written < 512 * 1024 * 1024) {
        written += chunk.length;
        if (!res.write(chunk)) {
          res.once('drain', write);
          return;
        }
      }
    };
    write();
  });
  expect(await post(sender(), `http://127.0.0.1:${port}/`)).toMatchObject({ statusCode: 200, error: null });
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test('refuses a name that leads to a private address, by the resolver of the system too', async () => {
  let reached = 0;
  const { port } = await receiver((_req, res) => {
    reached += 1;
    res.end();
  });
  const guarded = sender({ allowed: [] });
  const refused = { statusCode: null, error: 'address_refused' };
  expect(await post(guarded, `https://localhost:${port}/`)).toMatchObject(refused);
  for (const addresses of [['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['93.184.215.14', '10.0.0.7'], ['169.254.169.254']])
    expect(await post(sender({ allowed: [], lookup: resolvesTo(addresses) }), `https://rebound.example:${port}/`)).toMatchObject(refused);
  for (const host of ['127.0.0.1', '[::1]', '0x7f.1', '2130706433', '[::ffff:7f00:1]', '169.254.169.254', '100.64.0.1'])
    expect(await post(guarded, `https://${host}:${port}/`)).toMatchObject(refused);
  expect(reached).toBe(0);
});

test('reports a name that has no address as a failed connection', async () => {
  const lookup: LookupFunction = (name, _options, callback) => {
    const failure = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    // As Node itself does it: later, and with nothing but the error.
    setImmediate(() => Reflect.apply(callback, undefined, [failure]));
  };
  expect(await post(sender({ lookup }), 'https://hooks.invalid/')).toMatchObject({ statusCode: null, error: 'connection_failed' });
});

test('connects to the address that was checked, whatever the name leads to a moment later', async () => {
  const { port } = await receiver((_req, res) => res.end());
  let asked = 0;
  const rebinding: LookupFunction = (_name, _options, callback) => {
    asked += 1;
    callback(null, [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]);
  };
  expect(await post(sender({ lookup: rebinding }), `http://rebound.example:${port}/`)).toMatchObject({ statusCode: 200, error: null });
  expect(asked).toBe(1);
});

test('sends without TLS to allowed networks alone, and with it to public addresses as well', async () => {
  const { port } = await receiver((_req, res) => res.end());
  const to = sender({ lookup: resolvesTo(['127.0.0.1']) });
  expect(await post(to, `http://inside.example:${port}/`)).toMatchObject({ statusCode: 200 });
  expect(await post(sender({ lookup: resolvesTo(['93.184.215.14']) }), 'http://outside.example/')).toMatchObject({
    error: 'address_refused',
  });
  const urls = ['https://example.com/', 'https://10.0.0.1/', 'http://93.184.215.14/', 'http://127.0.0.1/'];
  expect(urls.map((url) => to.refusalOf(new URL(url)) === undefined)).toEqual([true, false, false, true]);
  expect(sender({ allowed: [] }).refusalOf(new URL('http://example.com/'))).toBe('must begin with https://');
});

test.each([
  ['93.184.215.14', true],
  ['8.8.8.8', true],
  ['172.15.255.255', true],
  ['172.16.0.1', false],
  ['192.168.1.1', false],
  ['0.0.0.0', false],
  ['255.255.255.255', false],
  ['224.0.0.1', false],
  ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', true],
  ['fe80::1', false],
  ['fd00::1', false],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['2001:0:7f00:1::', false],
  ['::ffff:8.8.8.8', false],
  ['not an address', false],
] as const)('%s is public: %s', (address, isPublic) => {
  expect(publicAddresses([])(address)).toBe(isPublic);
});
