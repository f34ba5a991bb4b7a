/**
 * Kubeconfigs that templates request. A template runs synchronously, so the request interrupts it with
 * KubeconfigNeeded; the runner gets the kubeconfig and runs the template again, as for contents of components.
 */
import { createHash } from 'node:crypto';
import { goJson } from '../../lib/gojson.ts';

/** A request, as written in the template. */
export interface KubeconfigRequest {
  /**
   * - `shoot`: an administrator's access to a shoot cluster, from the Gardener project of the target
   * - `account`: the access of a service account of the target's cluster
   * - `own`: the kubeconfig of the target itself
   */
  readonly kind: 'shoot' | 'account' | 'own';
  /** Name of the shoot or service account; empty for `own`. */
  readonly name: string;
  readonly namespace: string;
  readonly expirationSeconds: number;
  /** A Target object, or the value that the template passes as one. */
  readonly target: unknown;
}

/** A kubeconfig, or why it was not issued. */
export type Issued =
  | {
      /** Text in base64. */
      readonly kubeconfig: string;
      /** RFC 3339; undefined for access that does not expire. */
      readonly expirationTimestamp?: string | undefined;
    }
  | { readonly problem: string };

/** Issued kubeconfigs by the keys of their requests. Plain data, so that it can be sent to other processes. */
export type IssuedByKey = Readonly<Record<string, Issued>>;

/** Equal for equal requests; does not contain the request. */
export const keyOf = (request: KubeconfigRequest): string =>
  createHash('sha256').update(goJson(request)).digest('base64');

/** Not a failure: the kubeconfig has to be issued, then the work is repeated. */
export class KubeconfigNeeded extends Error {
  override readonly name = 'KubeconfigNeeded';
  /** JSON of the request, because fields of errors that cross processes are strings. Must never be logged. */
  readonly request: string;

  constructor(request: KubeconfigRequest) {
    super(`a kubeconfig for ${describe(request)} has to be issued first`);
    this.request = goJson(request);
  }
}

/** The request, without secrets. */
export function describe({ kind, name, namespace }: KubeconfigRequest): string {
  if (kind === 'own') return 'the target itself';
  return `${kind === 'shoot' ? 'shoot' : 'service account'} ${namespace}/${name}`;
}

/** Engines wrap the errors of functions in their own; the cause is kept. */
export function kubeconfigNeeded(error: unknown): KubeconfigRequest | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof KubeconfigNeeded) return JSON.parse(at.request) as KubeconfigRequest;
  }
  return undefined;
}
