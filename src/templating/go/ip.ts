/** IP addresses and ranges, parsed and formatted like Go's `net`. */
import { isIPv4, isIPv6 } from 'node:net';

/** Numeric value as IPv6; an IPv4 address is `::ffff:a.b.c.d`. */
export type IpAddress = bigint;

const MAPPED = 0xffffn << 32n;
const IPV4 = 2n ** 32n;

const isMapped = (address: IpAddress): boolean => address >= MAPPED && address < MAPPED + IPV4;

/** undefined if it is not an address. Zones (`fe80::1%eth0`) are not supported, as in Go. */
export function parseIp(source: string): IpAddress | undefined {
  if (isIPv4(source)) return MAPPED + ipv4(source);
  if (!isIPv6(source) || source.includes('%')) return undefined;
  const dotted = /[^:]*\.[^:]*$/.exec(source)?.[0];
  if (dotted === undefined) return ipv6(source);
  const low = ipv4(dotted);
  return ipv6(
    `${source.slice(0, -dotted.length)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`,
  );
}

const ipv4 = (source: string): bigint =>
  source.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);

function ipv6(source: string): bigint {
  const [head = '', tail] = source.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const middle = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...middle, ...right].reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
}

/** 4 bytes for IPv4, otherwise 16. */
export function bytesOfIp(address: IpAddress): Buffer {
  const bytes = Buffer.from(address.toString(16).padStart(32, '0'), 'hex');
  return isMapped(address) ? bytes.subarray(12) : bytes;
}

/** @param bytes 4 or 16 */
export function ipOfBytes(bytes: Buffer): IpAddress {
  const value = BigInt(`0x${bytes.toString('hex') || '0'}`);
  return bytes.length === 4 ? MAPPED + value : value;
}

export function formatIp(address: IpAddress): string {
  if (isMapped(address)) {
    return [24n, 16n, 8n, 0n].map((shift) => ((address >> shift) & 255n).toString()).join('.');
  }
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((address >> BigInt(112 - 16 * i)) & 0xffffn).toString(16),
  );
  const [start, size] = longestZeros(groups);
  if (size < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + size).join(':')}`;
}

/** Start and length of the longest run of zeros. */
function longestZeros(groups: readonly string[]): [number, number] {
  let best: [number, number] = [0, 0];
  let size = 0;
  groups.forEach((group, i) => {
    size = group === '0' ? size + 1 : 0;
    if (size > best[1]) best = [i - size + 1, size];
  });
  return best;
}

export interface IpRange {
  readonly first: IpAddress;
  readonly last: IpAddress;
}

/** A network, and the address with which it was written. */
export interface Cidr extends IpRange {
  readonly address: IpAddress;
  readonly prefix: number;
  /** 32 if it was written with an IPv4 address. */
  readonly bits: 32 | 128;
}

/** `10.0.0.0/8`; undefined if it is not a network. */
export function parseCidr(source: string): Cidr | undefined {
  const slash = source.lastIndexOf('/');
  const address = slash < 0 ? undefined : parseIp(source.slice(0, slash));
  const digits = source.slice(slash + 1);
  if (address === undefined || !/^\d{1,6}$/.test(digits)) return undefined;
  const bits = source.slice(0, slash).includes(':') ? 128 : 32;
  const prefix = Number(digits);
  return prefix > bits ? undefined : cidrOf(address, prefix, bits);
}

export function cidrOf(address: IpAddress, prefix: number, bits: 32 | 128): Cidr {
  const size = 2n ** BigInt(bits - prefix);
  const first = (address / size) * size;
  return { address, prefix, bits, first, last: first + size - 1n };
}

/** An IPv6 range contains no IPv4 addresses. */
export const isInCidr = ({ first, last }: Cidr, address: IpAddress): boolean =>
  address >= first && address <= last && isMapped(address) === isMapped(first);

/** The prefix counts the bits of the printed address. */
export function formatCidr({ address, prefix, bits }: Cidr): string {
  const hidden = isMapped(address) ? bits - 32 : 0;
  return `${formatIp(address)}/${String(Math.max(0, prefix - hidden))}`;
}
