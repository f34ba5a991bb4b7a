/**
 * The store on disk: a snapshot and a log of JSON lines, one per commit, written before the commit is visible. A
 * killed process loses no commit that was acknowledged; an incomplete last line was never acknowledged.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { LogRecord, Store } from './storage.ts';

const FORMAT = 1;
/** Commits are synced after this time: a killed process loses nothing, a power failure loses unsynced commits. */
const FSYNC_MS = 50;
const MIN_ROTATE_BYTES = 64 * 1024 * 1024;

/** The data on disk is unusable. */
export class DataUnusable extends Error {
  override readonly name = 'DataUnusable';
}

export class FileLog {
  readonly #dir: string;
  readonly #store: Store;
  readonly #clock: Clock;
  #file = -1;
  #size = 0;
  #snapshotSize = 0;
  #cancelFsync: (() => void) | undefined;

  /**
   * Locks the folder, reads its contents into `store`, and records every commit from then on.
   * @throws DataUnusable if another server uses the folder, or its contents cannot be read
   */
  constructor(dir: string, store: Store, clock: Clock) {
    this.#dir = dir;
    this.#store = store;
    this.#clock = clock;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    takeLock(this.#path('lock'));
    try {
      this.#load();
    } catch (error) {
      rmSync(this.#path('lock'), { force: true });
      throw error;
    }
    store.onCommit = (record) => {
      this.#append(record);
    };
  }

  close(): void {
    this.#cancelFsync?.();
    this.#store.onCommit = undefined;
    fsyncSync(this.#file);
    closeSync(this.#file);
    rmSync(this.#path('lock'), { force: true });
  }

  #path(name: string): string {
    return join(this.#dir, name);
  }

  #load(): void {
    const snapshot = this.#path('snapshot.jsonl');
    let rev = 0;
    if (existsSync(snapshot)) {
      const read = readLines(snapshot);
      rev = header(snapshot, read.lines[0]);
      for (const [i, line] of read.lines.entries()) if (i > 0) this.#store.restore(record(snapshot, i, line));
      this.#snapshotSize = read.bytes;
    }
    const log = this.#path('log.jsonl');
    if (!existsSync(log)) writeFileSync(log, headerLine(rev), { mode: 0o600 });
    const read = readLines(log);
    if (read.lines.length > 0) header(log, read.lines[0]);
    for (const [i, line] of read.lines.entries()) {
      if (i === 0) continue;
      const entry = record(log, i, line);
      if (entry.rev > rev) this.#store.restore(entry);
    }
    this.#store.restored(rev);
    this.#file = openSync(log, 'r+');
    ftruncateSync(this.#file, read.bytes);
    closeSync(this.#file);
    this.#file = openSync(log, 'a');
    this.#size = read.bytes;
    if (read.lines.length === 0) this.#write(headerLine(rev));
  }

  #append(entry: LogRecord): void {
    this.#write(`${JSON.stringify(entry)}\n`);
    this.#scheduleFsync();
    if (this.#size > Math.max(MIN_ROTATE_BYTES, 2 * this.#snapshotSize)) setImmediate(() => this.snapshot());
  }

  #write(text: string): void {
    const bytes = Buffer.from(text);
    let done = 0;
    while (done < bytes.length) done += writeSync(this.#file, bytes, done);
    this.#size += bytes.length;
  }

  #scheduleFsync(): void {
    this.#cancelFsync ??= this.#clock.at(this.#clock.now() + FSYNC_MS, () => {
      this.#cancelFsync = undefined;
      fsyncSync(this.#file);
    });
  }

  /** Writes a snapshot and starts a new log. */
  snapshot(): void {
    if (this.#store.onCommit === undefined) return;
    const { rev } = this.#store;
    const target = this.#path('snapshot.jsonl');
    const draft = openSync(`${target}.tmp`, 'w', 0o600);
    let size = writeSync(draft, headerLine(rev));
    for (const resource of this.#store.resources())
      for (const entry of resource.entries.values())
        size += writeSync(
          draft,
          `${JSON.stringify({ rev: entry.rev, resource: resource.id, key: entry.key, obj: entry.obj })}\n`,
        );
    fsyncSync(draft);
    closeSync(draft);
    renameSync(`${target}.tmp`, target);
    this.#snapshotSize = size;
    closeSync(this.#file);
    // If the process crashes here, the log still contains records up to `rev`; they are skipped when it is read.
    this.#file = openSync(this.#path('log.jsonl'), 'w', 0o600);
    this.#size = 0;
    this.#write(headerLine(rev));
  }
}

const headerLine = (rev: number): string => `${JSON.stringify({ format: FORMAT, rev })}\n`;

/** Complete lines of a file; an incomplete last line is ignored. */
function readLines(file: string): { lines: string[]; bytes: number } {
  const content = readFileSync(file);
  const bytes = content.lastIndexOf(10) + 1;
  const text = content.toString('utf8', 0, bytes);
  return { lines: text === '' ? [] : text.slice(0, -1).split('\n'), bytes };
}

function header(file: string, line: string | undefined): number {
  const value = parse(file, 0, line ?? '') as { format?: number; rev?: number };
  if (value.format !== FORMAT)
    throw new DataUnusable(`${file} has format ${String(value.format)}; this version reads format ${FORMAT}`);
  return value.rev ?? 0;
}

const record = (file: string, index: number, line: string): LogRecord =>
  parse(file, index, line) as LogRecord;

function parse(file: string, index: number, line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch (error) {
    throw new DataUnusable(
      `${file}, line ${index + 1} is damaged; restore the folder or start with a new one`,
      {
        cause: error,
      },
    );
  }
}

function takeLock(file: string): void {
  for (let attempt = 0; attempt < 2; attempt++)
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const holder = Number(readFileSync(file, 'utf8'));
      if (isAlive(holder))
        throw new DataUnusable(`the data folder is in use by process ${holder} (lock file ${file})`, {
          cause: error,
        });
      rmSync(file, { force: true });
    }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
