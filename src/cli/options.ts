/** Reads option values; what makes no sense is refused with a sentence. */
import { InvalidArgumentError } from 'commander';

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

/** Names separated by commas; the option may be given several times. */
export function list(text: string, before: readonly string[] = []): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw new InvalidArgumentError('write names separated by commas.');
  return [...before, ...names];
}
