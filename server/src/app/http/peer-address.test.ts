import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createPeerAddress } from './peer-address.ts';

const socketFrom = (remoteAddress: string | undefined) => Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
const behind = createPeerAddress(['10.0.0.0/8', '::1', '192.0.2.7']);

test.each<[string, string | undefined, string | undefined, string | null]>([
  ['a connection from outside', '203.0.113.9', undefined, '203.0.113.9'],
  ['a header from outside is not believed', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a proxy’s word is', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['only the part that our proxies wrote', '10.1.2.3', '1.1.1.1, 198.51.100.1, 192.0.2.7', '198.51.100.1'],
  ['a proxy over an IPv6 socket', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['an IPv6 client', '::1', '2001:db8::1', '2001:db8::1'],
  ['a proxy that says nothing', '10.1.2.3', undefined, '10.1.2.3'],
  ['a proxy that says nonsense', '10.1.2.3', 'unknown', '10.1.2.3'],
  ['a connection that is gone', undefined, undefined, null],
])('%s: %s with %s is %s', (_what, remote, forwarded, address) => {
  expect(behind({ socket: socketFrom(remote), headers: { ...(forwarded && { 'x-forwarded-for': forwarded }) } })).toBe(address);
});

test('without trusted proxies the header is never trusted', () => {
  expect(createPeerAddress([])({ socket: socketFrom('127.0.0.1'), headers: { 'x-forwarded-for': '1.1.1.1' } })).toBe('127.0.0.1');
});
