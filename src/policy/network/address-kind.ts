import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * The kind of an address: `public`, to the internet; `private`, to this machine or a private
 * network; `reserved`, to anything else, such as the link itself, the metadata of a cloud, or a
 * group of machines.
 */
export type AddressKind = 'public' | 'private' | 'reserved';

/** By IANA's registries of special-purpose addresses. */
const PRIVATE = blocks(
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['198.18.0.0', 15],
  ['::1', 128],
  ['fc00::', 7],
);
/**
 * Addresses of services that give a cloud's machines their credentials and settings, within private
 * and public blocks: of Alibaba, Azure, AWS, Google, Oracle and Scaleway. There may be others.
 */
const METADATA = blocks(
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['fd00:c1::a9fe:a9fe', 128],
  ['fd00:42::42', 128],
);
const RESERVED = blocks(
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // These can contain an IPv4 address, or are for protocols and documentation.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
);
/** All IPv6 addresses of the internet so far. */
const GLOBAL = blocks(['2000::', 3]);
const MAPPED = blocks(['::ffff:0:0', 96]);

/** Returns the kind of an IP address without a zone. Text that is not one is `reserved`. */
export function addressKind(address: string): AddressKind {
  if (isIPv4(address)) return kindOf(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return 'reserved';
  // The lists compare an address of this block as the IPv4 address in it.
  if (MAPPED.check(address, 'ipv6')) return kindOf(address, 'ipv6');
  const kind = kindOf(address, 'ipv6');
  return kind === 'public' && !GLOBAL.check(address, 'ipv6') ? 'reserved' : kind;
}

function kindOf(address: string, family: 'ipv4' | 'ipv6'): AddressKind {
  if (METADATA.check(address, family) || RESERVED.check(address, family)) return 'reserved';
  return PRIVATE.check(address, family) ? 'private' : 'public';
}

function blocks(...subnets: [address: string, bits: number][]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of subnets)
    list.addSubnet(address, bits, isIPv4(address) ? 'ipv4' : 'ipv6');
  return list;
}
