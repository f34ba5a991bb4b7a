/** Reads and writes tar archives in memory: ustar, with the GNU and POSIX extensions for long names. */

interface TarEntry {
  readonly path: string;
  readonly type: 'file' | 'directory' | 'link' | 'other';
  readonly content: Uint8Array;
  /** Permissions, such as 0o755. */
  readonly mode: number;
  /** Target of a link. */
  readonly target?: string;
}

/** The bytes are not a tar archive, or a damaged one. */
export class TarError extends Error {
  override readonly name = 'TarError';
}

const BLOCK = 512;
const NOTHING = new Uint8Array();

/**
 * The entries in order. Contents share memory with `bytes`.
 * @throws TarError
 */
export function* readTar(bytes: Uint8Array): Generator<TarEntry> {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let extra: Readonly<Record<string, string>> = {};
  for (let at = 0; at + BLOCK <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return;
    checkSum(header, at);
    const flag = String.fromCharCode(header[156] ?? 0);
    const size = extra['size'] === undefined ? number(header, 124, 12) : Number(extra['size']);
    const start = at + BLOCK;
    if (!Number.isSafeInteger(size) || size < 0 || start + size > archive.length) {
      throw new TarError(`the archive ends in the middle of the entry at byte ${String(at)}`);
    }
    const content = archive.subarray(start, start + size);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
    if (flag === 'x') extra = { ...extra, ...paxRecords(content) };
    else if (flag === 'L') extra = { ...extra, path: text(content) };
    else if (flag === 'K') extra = { ...extra, linkpath: text(content) };
    else if (flag !== 'g') {
      yield entry(header, flag, content, extra);
      extra = {};
    }
  }
}

function entry(
  header: Buffer,
  flag: string,
  content: Uint8Array,
  extra: Readonly<Record<string, string>>,
): TarEntry {
  const isUstar = header.toString('latin1', 257, 262) === 'ustar';
  const prefix = isUstar ? text(header.subarray(345, 500)) : '';
  const name = text(header.subarray(0, 100));
  const path = extra['path'] ?? (prefix === '' ? name : `${prefix}/${name}`);
  const mode = number(header, 100, 8) & 0o7777;
  if (flag === '1' || flag === '2') {
    return {
      path,
      type: 'link',
      content: NOTHING,
      mode,
      target: extra['linkpath'] ?? text(header.subarray(157, 257)),
    };
  }
  if (flag === '5' || ((flag === '0' || flag === '\0') && path.endsWith('/'))) {
    return { path, type: 'directory', content: NOTHING, mode };
  }
  return { path, type: flag === '0' || flag === '\0' || flag === '7' ? 'file' : 'other', content, mode };
}

/** Whether the bytes begin with the header of an entry. */
export function isTar(bytes: Uint8Array): boolean {
  if (bytes.length < BLOCK || bytes[0] === 0) return false;
  try {
    checkSum(Buffer.from(bytes.buffer, bytes.byteOffset, BLOCK), 0);
    return true;
  } catch (error) {
    if (error instanceof TarError) return false;
    throw error;
  }
}

function checkSum(header: Buffer, at: number): void {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 0x20 : (header[i] ?? 0);
  if (sum !== number(header, 148, 8)) throw new TarError(`there is no tar header at byte ${String(at)}`);
}

/** Octal digits or, if the highest bit is set, a binary number. */
function number(header: Buffer, start: number, length: number): number {
  const field = header.subarray(start, start + length);
  if (((field[0] ?? 0) & 0x80) !== 0) {
    return field.subarray(1).reduce((value, byte) => value * 256 + byte, (field[0] ?? 0) & 0x7f);
  }
  const digits = text(field).trim();
  return digits === '' ? 0 : /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
}

function text(field: Uint8Array): string {
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end)).toString('utf8');
}

/** `<length> <key>=<value>\n`, where the length is that of the whole record in bytes. */
function paxRecords(content: Buffer): Record<string, string> {
  const records: Record<string, string> = {};
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(0x20, at);
    const digits = blank < 0 ? '' : content.toString('latin1', at, blank);
    const length = /^\d{1,9}$/.test(digits) ? Number(digits) : 0;
    if (length === 0) throw new TarError('an extended header cannot be read');
    const record = content.toString('utf8', blank + 1, at + length - 1);
    const equals = record.indexOf('=');
    if (equals > 0) records[record.slice(0, equals)] = record.slice(equals + 1);
    at += length;
  }
  return records;
}

// ---------------------------------------------------------------- writing

/** An entry of an archive; a path with a trailing slash is a directory. */
export type TarInput = readonly [path: string, content: Uint8Array, mode?: number];

/** An archive that depends only on names, contents and permissions: times are zero, owners are root. */
export function writeTar(entries: Iterable<TarInput>): Uint8Array {
  const blocks: Uint8Array[] = [];
  const add = (path: string, content: Uint8Array, flag: string, mode = 0o644): void => {
    blocks.push(headerOf(path, content.length, flag, mode), content, new Uint8Array(padding(content.length)));
  };
  for (const [path, content, mode] of entries) {
    if (Buffer.byteLength(path) > 100) add('PaxHeader', paxRecord('path', path), 'x');
    const flag = path.endsWith('/') ? '5' : '0';
    add(Buffer.byteLength(path) > 100 ? 'long' : path, content, flag, mode);
  }
  return Buffer.concat([...blocks, new Uint8Array(2 * BLOCK)]);
}

const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function headerOf(path: string, size: number, flag: string, mode: number): Uint8Array {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, start: number, length: number): void => {
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, start, 'latin1');
  };
  header.write(path, 0, 'utf8');
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.write('        ', 148, 'latin1');
  header.write(flag, 156, 'latin1');
  header.write('ustar\u000000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

function paxRecord(key: string, value: string): Uint8Array {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + 1;
  while (String(length).length + rest !== length) length = String(length).length + rest;
  return Buffer.from(`${String(length)} ${key}=${value}\n`);
}
