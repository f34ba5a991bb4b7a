/** Arithmetic on IP addresses and networks, as `+ - /` do it. */
import { isIP } from 'node:net';
import type { Value } from '../tree/node.ts';

interface Address {
  readonly value: bigint;
  readonly bits: 32 | 128;
  /** Of a network. */
  readonly prefix: number | undefined;
}

function parseAddress(text: string): Address | undefined {
  const [host = '', prefixText, ...rest] = text.split('/');
  const version = isIP(host);
  if (version === 0 || host.includes('%') || rest.length > 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return undefined;
  const prefix = prefixText === undefined ? undefined : Number(prefixText);
  if (prefix !== undefined && prefix > bits) return undefined;
  return { value: version === 4 ? valueOf4(host) : valueOf6(host), bits, prefix };
}

const valueOf4 = (host: string): bigint =>
  host.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);

function valueOf6(host: string): bigint {
  const expanded = host.replace(/(\d+\.\d+\.\d+\.\d+)$/, (v4) => {
    const value = valueOf4(v4);
    return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
  });
  const [head = '', tail] = expanded.split('::');
  const groups = (part: string): string[] => part.split(':').filter((group) => group !== '');
  const [before, after] = [groups(head), groups(tail ?? '')];
  const all = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return all.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}

function textOf({ value, bits, prefix }: Address): string {
  const host = bits === 32 ? textOf4(value) : textOf6(value);
  return prefix === undefined ? host : `${host}/${prefix}`;
}

const textOf4 = (value: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');

/** The longest run of two or more zero groups is left out, the first of several. */
function textOf6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => (value >> BigInt(112 - 16 * i)) & 0xffffn);
  const text = groups.map((group) => group.toString(16)).join(':');
  const longest = [...text.matchAll(/(?<![0-9a-f])0(?::0)+(?![0-9a-f])/g)].reduce<
    RegExpExecArray | undefined
  >((best, run) => (best && best[0].length >= run[0].length ? best : run), undefined);
  if (!longest) return text;
  const before = text.slice(0, longest.index).replace(/:$/, '');
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, '');
  return `${before}::${after}`;
}

const maskOf = (prefix: number, bits: number): bigint =>
  ((1n << BigInt(prefix)) - 1n) << BigInt(bits - prefix);

function moved(address: Address, offset: bigint): string | Error {
  const value = BigInt.asUintN(address.bits, address.value + offset);
  if (address.prefix !== undefined) {
    const mask = maskOf(address.prefix, address.bits);
    if ((value & mask) !== (address.value & mask)) return new Error('resulting ip address not in CIDR range');
  }
  return textOf({ ...address, value });
}

export function addToAddress(text: string, offset: Value): Value | Error {
  const address = parseAddress(text);
  if (!address) return new Error('first argument for addition must be IP address, CIDR or number');
  if (typeof offset !== 'bigint') {
    return new Error('addition argument for an IP address requires an integer argument');
  }
  return moved(address, offset);
}

/** The address so much before, or the distance of two addresses. */
export function subtractAddresses(text: string, other: Value): Value | Error {
  const address = parseAddress(text);
  if (!address) return new Error('first argument for substraction must be IP address, CIDR or number');
  if (typeof other === 'bigint') return moved(address, -other);
  if (typeof other !== 'string') {
    return new Error('second argument of IP address subtraction must be IP address or integer');
  }
  const second = parseAddress(other);
  if (!second) return new Error('second argument for substraction must be IP address, CIDR or number');
  if (second.bits !== address.bits) {
    return new Error(`IP type mismatch (${address.bits / 8} != ${second.bits / 8})`);
  }
  return BigInt.asIntN(64, address.value - second.value);
}

/** The first of the so many networks of equal size that a network is divided into. */
export function divideNetwork(text: string, by: Value): Value | Error {
  const network = parseAddress(text);
  if (network?.prefix === undefined) {
    return new Error(`first argument of division must be CIDR or number: invalid CIDR address: ${text}`);
  }
  if (typeof by !== 'bigint') return new Error('IP address division requires an integer argument');
  if (by < 1n) return new Error('IP address division requires a positive integer argument');
  const prefix = network.prefix + (by - 1n).toString(2).length - (by === 1n ? 1 : 0);
  if (prefix > 32) return new Error('divisor too large for CIDR network size');
  return textOf({ ...network, value: network.value & maskOf(network.prefix, network.bits), prefix });
}

/** The network of the same size so many further on. */
export function multiplyNetwork(text: string, by: Value): Value | Error {
  const network = parseAddress(text);
  if (network?.prefix === undefined) {
    return new Error(
      `first argument of multiplication must be CIDR or number: invalid CIDR address: ${text}`,
    );
  }
  if (typeof by !== 'bigint') return new Error('CIDR multiplication requires an integer argument');
  const start = network.value & maskOf(network.prefix, network.bits);
  const size = 1n << BigInt(network.bits - network.prefix);
  return textOf({ ...network, value: BigInt.asUintN(network.bits, start + size * by) });
}
