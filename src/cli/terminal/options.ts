/** Parses option values; refuses invalid ones with a message. */
import { InvalidArgumentError } from 'commander';
import { isDuration, parseDuration } from '../../lib/duration.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

const MAX_PORT = 65_535;

/** @throws InvalidArgumentError */
export function port(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Infinity;
  if (value > MAX_PORT)
    throw new InvalidArgumentError('write a number from 0 to 65535; 0 takes any free port.');
  return value;
}

/**
 * `HOST:PORT`, `[IPV6]:PORT`, or `:PORT` for all interfaces.
 * @throws InvalidArgumentError
 */
export function address(text: string): Address {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(text);
  if (!match) throw new InvalidArgumentError('write it as HOST:PORT, such as 127.0.0.1:8080.');
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port: port(match[3] ?? '') };
}

/** Namespace and name of an object. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * `NAMESPACE/NAME`
 * @throws InvalidArgumentError
 */
export function namespacedName(text: string): NamespacedName {
  const [namespace = '', name = '', ...more] = text.split('/');
  if (namespace === '' || name === '' || more.length > 0)
    throw new InvalidArgumentError('write it as NAMESPACE/NAME.');
  return { namespace, name };
}

/**
 * A URL that API servers accept for a webhook: HTTPS, without query and fragment.
 * @throws InvalidArgumentError
 */
export function webhookUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.protocol === 'https:' && url.search + url.hash + url.username + url.password === '';
  if (!url || !isPlain)
    throw new InvalidArgumentError('write it as https://HOST:PORT, such as https://hooks.example.org:9443.');
  return url;
}

/** An option that may be repeated. */
export const repeated = (text: string, before: readonly string[] = []): string[] => [...before, text];

/** Names separated by commas; the option may be repeated. */
export function list(text: string, before: readonly string[] = []): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw new InvalidArgumentError('write names separated by commas.');
  return [...before, ...names];
}

const MIN_MEMORY_MIB = 128;

/** The memory of a process in MiB. @throws InvalidArgumentError */
export function memoryMiB(text: string): number {
  const value = wholeNumber(text);
  if (value >= MIN_MEMORY_MIB) return value;
  throw new InvalidArgumentError(`write at least ${String(MIN_MEMORY_MIB)}, the MiB of a small process.`);
}

/** Milliseconds of a duration above 0. @throws InvalidArgumentError */
export function duration(text: string): number {
  const ms = isDuration(text) ? parseDuration(text) : 0;
  if (ms > 0) return ms;
  throw new InvalidArgumentError('write a duration such as 90s or 5m.');
}

/** A time in the format of Kubernetes. @throws InvalidArgumentError */
export function instant(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('write it like 2026-01-31T12:00:00Z.');
  return time;
}

/** @throws InvalidArgumentError */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('write a whole number.');
  return Number(text);
}

const MAX_REPLICAS = 100;
const MAX_JOBS = 64;

/** @throws InvalidArgumentError */
export const replicas = (text: string): number => countUpTo(MAX_REPLICAS, text);

/** A number of processes. @throws InvalidArgumentError */
export const jobs = (text: string): number => countUpTo(MAX_JOBS, text);

function countUpTo(most: number, text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw new InvalidArgumentError(`write a number from 1 to ${String(most)}.`);
}
