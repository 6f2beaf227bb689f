import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
}

/** Whether what is asked there is this gateway: by the port that it listens on, in every spelling of its host, or by its public address. */
export function isOwnAddress(address: string, { host, port, publicUrl }: Listening): boolean {
  const url = new URL(address);
  if (publicUrl !== undefined && isBelow(url, new URL(publicUrl))) return true;
  // Port 0 is any that is free.
  if (port === 0 || portOf(url) !== port) return false;
  const asked = bareHost(url.hostname);
  const bound = bareHost(host);
  if (asked === bound) return true;
  if (isLoopback(asked)) return isLoopback(bound) || isAny(bound);
  return isAny(bound) && ownHosts().has(asked);
}

/** Below a public address there may be other services; the API is at its `/v1`. */
function isBelow(url: URL, own: URL): boolean {
  const root = own.pathname.replace(/\/+$/, '');
  const path = url.pathname.replace(/\/+$/, '');
  return url.origin === own.origin && (path === root || `${path}/`.startsWith(`${root}/v1/`));
}

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));

const bareHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');

/** Where nothing is bound to these, the system takes them for this machine. */
const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::';

const isLoopback = (host: string): boolean =>
  host === 'localhost' ||
  host.endsWith('.localhost') ||
  host === '::1' ||
  isAny(host) ||
  // IPv4 as IPv6: a URL has 127.0.0.1 as ::ffff:7f00:1.
  /^::ffff:(7f[0-9a-f]{2}:|127\.)/.test(host) ||
  (isIP(host) === 4 && host.startsWith('127.'));

const ownHosts = (): ReadonlySet<string> =>
  new Set([
    hostname().toLowerCase(),
    ...Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address.toLowerCase())),
  ]);
