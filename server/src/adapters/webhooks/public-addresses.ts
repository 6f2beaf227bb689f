import { BlockList, isIP } from 'node:net';

/** IPv4 that is not reachable from everywhere (IANA IPv4 Special-Purpose Address Registry), and multicast. */
const SPECIAL_IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
/** Of IPv6 only this is in use for public addresses: all else is local, or carries an IPv4 address in it (mapped, NAT64). */
const GLOBAL_IPV6 = '2000::/3';
/** Parts of it that are not public: IETF protocols with Teredo, documentation, and 6to4, which carries an IPv4 address. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

export type AddressCheck = (address: string) => boolean;

/**
 * Whether an address is one of the public internet, or in a network that the operator allows.
 * @param allowed addresses and networks such as `10.1.0.0/16`
 */
export function publicAddresses(allowed: readonly string[]): AddressCheck {
  const special = listOf([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
  const global = listOf([GLOBAL_IPV6]);
  const permitted = networksOf(allowed);
  return (address) => {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (isIP(address) === 0) return false;
    if (permitted(address)) return true;
    return !special.check(address, family) && (family === 'ipv4' || global.check(address, family));
  };
}

/** Whether an address is in one of the networks. */
export function networksOf(networks: readonly string[]): AddressCheck {
  const list = listOf(networks);
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
