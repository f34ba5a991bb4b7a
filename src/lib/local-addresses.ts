/**
 * Addresses of this machine and of its link. Programs there trust every caller: metadata services of clouds, metrics,
 * health checks. A server that a tenant names must not lead a request to them.
 */
import { lookup as resolveName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Who chose the address of a server: a user, or another server. */
export type ChosenBy = 'user' | 'redirect';

/**
 * Which addresses of this machine requests may go to: none, those of loopback that a user has named, or all. In a pod, users
 * of other namespaces name them.
 */
export type LocalAddresses = 'none' | 'named' | 'all';

type Subnet = readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'];

const LOOPBACK: readonly Subnet[] = [
  ['127.0.0.0', 8, 'ipv4'],
  ['0.0.0.0', 8, 'ipv4'],
  ['::', 127, 'ipv6'],
];
const LINK_LOCAL: readonly Subnet[] = [
  ['169.254.0.0', 16, 'ipv4'],
  ['fe80::', 10, 'ipv6'],
  // The metadata service of a cloud, in the range of private addresses.
  ['fd00:ec2::254', 128, 'ipv6'],
];

function blockList(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix, family] of subnets) list.addSubnet(network, prefix, family);
  return list;
}

/** A registry for tests may run on this machine, so a user may name it; nothing may be redirected to it from elsewhere. */
const REFUSED: Readonly<Record<ChosenBy, BlockList>> = {
  user: blockList(LINK_LOCAL),
  redirect: blockList([...LINK_LOCAL, ...LOOPBACK]),
};
const loopback = blockList(LOOPBACK);

/** Code of the error, as in the errors of Node. */
export const LOCAL_ADDRESS = 'ERR_LOCAL_ADDRESS';

/** The connection was not attempted. */
export class LocalAddress extends Error {
  override readonly name = 'LocalAddress';
  readonly code = LOCAL_ADDRESS;

  constructor(host: string, address: string) {
    super(`${host === address ? host : `${host} (${address})`} is an address of this machine or of its link`);
  }
}

const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** An address without the brackets that URLs have around those of IPv6. */
const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Whether the URL itself names this machine. */
export function namesThisMachine({ hostname }: URL): boolean {
  const host = bare(hostname);
  return isIP(host) ? isIn(loopback, host) : /(^|\.)localhost\.?$/.test(host);
}

/** For URLs with an address in place of a name, which nothing looks up. @throws LocalAddress */
export function refuseLocal({ hostname }: URL, chosenBy: ChosenBy): void {
  const host = bare(hostname);
  if (isIP(host) && isIn(REFUSED[chosenBy], host)) throw new LocalAddress(host, host);
}

/** Looks names up for a connection. The answer is checked, not the name, whose address may change at any time. */
export const lookupFor =
  (chosenBy: ChosenBy, resolve: LookupFunction = resolveName): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, options, (error, address, family) => {
      const found = Array.isArray(address) ? address.map((each) => each.address) : [address];
      const refused = error ? undefined : found.find((each) => isIn(REFUSED[chosenBy], each));
      callback(refused === undefined ? error : new LocalAddress(hostname, refused), address, family);
    });
  };
