import { BlockList, isIP } from 'node:net';

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Whether an address is in one of the ranges (`203.0.113.0/24`, `2001:db8::/32`), or is one of the addresses. */
export function isWithin(address: string | null, ranges: readonly string[]): boolean {
  if (address === null || isIP(address) === 0) return false;
  const list = new BlockList();
  for (const range of ranges) {
    const [base = '', bits] = range.split('/');
    if (bits === undefined) list.addAddress(base, familyOf(base));
    else list.addSubnet(base, Number(bits), familyOf(base));
  }
  return list.check(address, familyOf(address));
}
