/** Arithmetic on IP addresses and networks, for `+ - * /`. */
import {
  cidrOf,
  formatCidr,
  formatIp,
  isInCidr,
  parseCidr,
  parseIp,
  type Cidr,
  type IpAddress,
} from '../../go/ip.ts';
import type { Value } from '../tree/node.ts';

interface Address {
  readonly ip: IpAddress;
  /** The address with which it was written. */
  readonly cidr: Cidr | undefined;
}

function parseAddress(text: string): Address | undefined {
  const cidr = parseCidr(text);
  const ip = cidr?.address ?? parseIp(text);
  return ip === undefined ? undefined : { ip, cidr };
}

/** Counts from IPv4 into IPv6, like the original; only networks have an end. */
function moved({ ip, cidr }: Address, offset: bigint): string | Error {
  const address = BigInt.asUintN(128, ip + offset);
  if (!cidr) return formatIp(address);
  return isInCidr(cidr, address)
    ? formatCidr({ ...cidr, address })
    : new Error('resulting ip address not in CIDR range');
}

export function addToAddress(text: string, offset: Value): Value | Error {
  const address = parseAddress(text);
  if (!address) return new Error('first argument for addition must be IP address, CIDR or number');
  if (typeof offset !== 'bigint') {
    return new Error('addition argument for an IP address requires an integer argument');
  }
  return moved(address, offset);
}

/** The address this far before another one, or the distance between two addresses. */
export function subtractAddresses(text: string, other: Value): Value | Error {
  const address = parseAddress(text);
  if (!address) return new Error('first argument for substraction must be IP address, CIDR or number');
  if (typeof other === 'bigint') return moved(address, -other);
  if (typeof other !== 'string') {
    return new Error('second argument of IP address subtraction must be IP address or integer');
  }
  const second = parseAddress(other);
  if (!second) return new Error('second argument for substraction must be IP address, CIDR or number');
  return BigInt.asIntN(64, address.ip - second.ip);
}

/** The first network when a network is divided into this many of equal size. */
export function divideNetwork(text: string, by: Value): Value | Error {
  const network = parseCidr(text);
  if (!network) {
    return new Error(`first argument of division must be CIDR or number: invalid CIDR address: ${text}`);
  }
  if (typeof by !== 'bigint') return new Error('IP address division requires an integer argument');
  if (by < 1n) return new Error('IP address division requires a positive integer argument');
  const prefix = network.prefix + (by - 1n).toString(2).length - (by === 1n ? 1 : 0);
  if (prefix > 32) return new Error('divisor too large for CIDR network size');
  return formatCidr(cidrOf(network.first, prefix, network.bits));
}

/** The network of the same size this many positions later. */
export function multiplyNetwork(text: string, by: Value): Value | Error {
  const network = parseCidr(text);
  if (!network) {
    return new Error(
      `first argument of multiplication must be CIDR or number: invalid CIDR address: ${text}`,
    );
  }
  if (typeof by !== 'bigint') return new Error('CIDR multiplication requires an integer argument');
  const { first, last, prefix, bits } = network;
  const before = first - BigInt.asUintN(bits, first);
  const start = before + BigInt.asUintN(bits, first + (last - first + 1n) * by);
  return formatCidr(cidrOf(start, prefix, bits));
}
