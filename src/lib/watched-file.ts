/** A file that is read again after it has changed, such as a mounted secret, which the kubelet replaces. */
import { readFileSync, statSync } from 'node:fs';

/** The same object as long as the file does not change. */
export type FileState = { readonly text: string } | { readonly problem: string };

const MAX_BYTES = 2 ** 20;

export class WatchedFile {
  readonly path: string;
  #signature: string | undefined;
  #state: FileState = { problem: 'was not read' };

  constructor(path: string) {
    this.path = path;
  }

  current(): FileState {
    const signature = signatureOf(this.path);
    if (signature !== this.#signature) this.#state = read(this.path);
    this.#signature = signature;
    return this.#state;
  }
}

/** Follows symbolic links, because the kubelet replaces the target of a link. */
function signatureOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return [ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return codeOf(error);
  }
}

function read(path: string): FileState {
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) return { problem: `has more than ${String(MAX_BYTES)} bytes` };
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { problem: `cannot be read (${codeOf(error)})` };
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error';
