/** When the token for the source cluster is renewed, and how it is stored in the kubeconfig. Pure. */
import { annotations } from '../../src/api/labels.ts';
import { KUBECONFIG } from '../../src/lib/kubeconfig-strings.ts';
import { isObject, ownField } from '../../src/lib/objects.ts';
import { toYaml } from '../../src/lib/yaml.ts';
import { parseBoundedYaml } from '../../src/lib/yaml-texts.ts';
import type { Sync } from './snapshot.ts';

const RENEW_AFTER_MS = 60 * 24 * 3_600_000;

/** @param nowMs milliseconds since 1970 */
export function isRotationDue({ spec, status, metadata }: Sync, nowMs: number): boolean {
  if (spec.tokenRotation?.enabled !== true) return false;
  if (metadata.annotations?.[annotations.rotateToken] !== undefined) return true;
  const last = Date.parse(status?.lastTokenRotationTime ?? '');
  return Number.isNaN(last) || nowMs - last > RENEW_AFTER_MS;
}

/** The token in this kubeconfig cannot be renewed. */
export class RotationImpossible extends Error {
  override readonly name = 'RotationImpossible';
}

interface Renewable {
  /** Service account in the source namespace; the only user of the kubeconfig has the same name. */
  readonly account: string;
  /** The same kubeconfig with a new token. */
  withToken(token: string): string;
}

/** @throws RotationImpossible unless there is exactly one user */
export function renewable(kubeconfig: string): Renewable {
  const document = parseWithoutError(kubeconfig);
  const users = ownField(document, 'users');
  const [only] = Array.isArray(users) ? (users as readonly unknown[]) : [];
  const account = ownField(only, 'name');
  if (!Array.isArray(users) || users.length !== 1 || typeof account !== 'string' || account === '') {
    throw new RotationImpossible(
      'the token cannot be rotated: the kubeconfig of the source cluster must have exactly one user with the name of its service account',
    );
  }
  const credentials = ownField(only, 'user');
  return {
    account,
    withToken: (token) =>
      toYaml({
        ...(document as object),
        users: [{ ...(only as object), user: { ...(isObject(credentials) && credentials), token } }],
      }),
  };
}

function parseWithoutError(text: string): unknown {
  try {
    return parseBoundedYaml(text, { strings: KUBECONFIG });
  } catch {
    // The error of the parser may quote the kubeconfig, which contains credentials.
    return undefined;
  }
}
