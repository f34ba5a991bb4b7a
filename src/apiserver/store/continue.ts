/** The token that carries a paged list on: which snapshot, and after which key. Pure. */
import { badRequest } from '../status.ts';

interface ContinuePoint {
  /** Snapshot to go on in; -1 means the newest state. */
  readonly rev: number;
  /** Key after which the list goes on. */
  readonly after: string;
}

/** @param start key relative to the listed prefix */
export function encodeContinue(rev: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rev, start: `${start}\0` })).toString('base64url');
}

/** @throws ApiError 400 for anything that this server did not write */
export function decodeContinue(token: string): ContinuePoint {
  try {
    const value = JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, unknown>;
    const { v, rev, start } = value;
    if (v === 'meta.k8s.io/v1' && typeof rev === 'number' && typeof start === 'string' && rev !== 0)
      return { rev, after: start.endsWith('\0') ? start.slice(0, -1) : start };
  } catch {
    // falls through to the refusal
  }
  throw badRequest(
    'invalid continue token: continue key is not valid: encoded continue token has an unknown form',
  );
}
