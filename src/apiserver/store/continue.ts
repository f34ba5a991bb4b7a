/** The continue token of a paged list: the snapshot, and the last key. Pure. */
import { badRequest } from '../status.ts';

interface ContinuePoint {
  /** Revision of the snapshot; -1 means the newest state. */
  readonly rev: number;
  /** The list continues after this key. */
  readonly after: string;
}

/** @param start key relative to the listed prefix */
export function encodeContinue(rev: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rev, start: `${start}\0` })).toString('base64url');
}

/** @throws ApiError 400 for tokens that this server did not create */
export function decodeContinue(token: string): ContinuePoint {
  try {
    const value = JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, unknown>;
    const { v, rev, start } = value;
    if (v === 'meta.k8s.io/v1' && typeof rev === 'number' && typeof start === 'string' && rev !== 0)
      return { rev, after: start.endsWith('\0') ? start.slice(0, -1) : start };
  } catch {
    // throws below
  }
  throw badRequest(
    'invalid continue token: continue key is not valid: encoded continue token has an unknown form',
  );
}
