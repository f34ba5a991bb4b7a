/** Arithmetic with IP addresses. Better than the original: the size of IPv6 networks is correct. */
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import { isSpiffList, type SpiffValue } from '../value.ts';
import { count, fail, integer, MAX_ELEMENTS, text } from './arguments.ts';
import { formatIp, isInCidr, parseCidr, parseIp, type IpAddress, type IpRange } from '../../go/ip.ts';
import { trimmedEnds } from '../../../lib/trim.ts';

const MAX_INT64 = 2n ** 63n - 1n;

const sizeOf = ({ first, last }: IpRange): bigint => last - first + 1n;

/** A function of one network. */
const ofCidr =
  (answer: (cidr: IpRange) => SpiffValue): SpiffFunction =>
  (args) => {
    count(args, 1, 1, 'only one argument expected for CIDR function');
    const cidr = parseCidr(text(args[0], 'CIDR argument required'));
    return cidr ? answer(cidr) : fail('CIDR argument required');
  };

function addressCount(cidr: IpRange): bigint {
  const size = sizeOf(cidr);
  return size > MAX_INT64 ? fail('num_ip: the network has more addresses than an integer can count') : size;
}

function containsIp(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 2, 'contains_ip requires CIDR and IP argument');
  const source = text(args[0], 'CIDR required as first argument');
  const cidr = parseCidr(source) ?? fail(`CIDR argument required: invalid CIDR address: ${source}`);
  const wanted = text(args[1], 'IP required as second argument');
  const ip = parseIp(wanted) ?? fail(`IP argument required: ${wanted}`);
  return isInCidr(cidr, ip);
}

/** A network, an address, or `first - last`. */
function rangeOf(source: string): IpRange {
  const segments = source.split('-');
  const cidr = segments.length === 1 ? parseCidr(source) : undefined;
  if (cidr) return cidr;
  const address = (segment: string): IpAddress =>
    parseIp(trimmedEnds(segment, ' ')) ?? fail(`invalid IP '${segment}'`);
  const [from = '', to = from] = segments;
  const range = { first: address(from), last: address(to) };
  if (range.first > range.last) fail(`invalid IP range: start (${from}) larger than end (${to})`);
  return range;
}

function rangesOf(value: SpiffValue | undefined): IpRange[] {
  if (typeof value === 'string') return [rangeOf(value)];
  if (value === undefined || !isSpiffList(value)) {
    return fail('ip range or range list expected as first argument');
  }
  return value.map((item, i) => text(item, `string entry at ip range list index ${String(i)}`)).map(rangeOf);
}

const NO_INDEX = 'arguments to static_ips must be integer or list of integers';

function indicesOf(value: SpiffValue): bigint[] {
  if (typeof value === 'bigint') {
    return value < 0n ? fail(`negative ip indices are not allowed: ${value.toString()}`) : [value];
  }
  if (!isSpiffList(value)) return fail(NO_INDEX);
  return value.flatMap((item) => (item === null ? [] : indicesOf(item)));
}

/** `ipset(ranges, count, index…)`: this many addresses of the ranges, optionally at the given indices. */
function ipSet(args: readonly SpiffValue[]): SpiffValue {
  if (args.length < 2) fail('at least 2 argument expected (ipranges, size, optional: ip indices');
  const ranges = rangesOf(args[0]);
  const indices = args.length > 2 ? args.slice(2).flatMap(indicesOf) : undefined;
  const wanted = integer(args[1], 'number of IPs in set expected as second argument');
  if (indices && BigInt(indices.length) < wanted) {
    fail(`too many required entries (${wanted.toString()} > ${String(indices.length)} available indices)`);
  }
  if (wanted < 0n || wanted > MAX_ELEMENTS) {
    fail(`ipset: the number of IPs must be from 0 to ${String(MAX_ELEMENTS)}`);
  }
  return Array.from({ length: Number(wanted) }, (_, i) => pick(ranges, i, indices?.[i] ?? BigInt(i)));
}

function pick(ranges: readonly IpRange[], place: number, index: bigint): string {
  let offset = index;
  for (const range of ranges) {
    const size = sizeOf(range);
    if (offset < size) return formatIp(range.first + offset);
    offset -= size;
  }
  const available = (index - offset).toString();
  return fail(
    `ip index ${String(place)} (${index.toString()}) out of range (${available} IP(s) available in ranges)`,
  );
}

export const ipFunctions: SpiffFunctionTable = {
  min_ip: ofCidr(({ first }) => formatIp(first)),
  max_ip: ofCidr(({ last }) => formatIp(last)),
  num_ip: ofCidr(addressCount),
  contains_ip: containsIp,
  ipset: ipSet,
};
