import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The trusted address of a client; null when the connection is closed already. */
export type PeerAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string | null;

/**
 * The address of the connection, or, where that is a proxy of ours, the one that it saw: the last entry of `X-Forwarded-For` that
 * is no proxy of ours. Anybody can send the header, so entries to the left of it are never looked at.
 *
 * @param trusted addresses and networks (`10.0.0.0/8`, `::1`) of the proxies in front
 */
export function createPeerAddress(trusted: readonly string[]): PeerAddress {
  const proxies = new BlockList();
  for (const entry of trusted) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(prefix), family);
  }
  const isProxy = (address: string): boolean => isIP(address) !== 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return ({ headers, socket }) => {
    let nearest = plain(socket.remoteAddress ?? '');
    const forwarded = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((entry) => plain(entry.trim()));
    while (isProxy(nearest)) {
      const before = forwarded.pop();
      // A proxy that says nothing sensible of where it has a request from is itself where it comes from.
      if (before === undefined || isIP(before) === 0) break;
      nearest = before;
    }
    return nearest === '' ? null : nearest;
  };
}

/** An IPv4 address that came in over an IPv6 socket, as the IPv4 address that it is. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
