/**
 * Kubeconfigs that templates request. A template runs synchronously, so the request interrupts it with
 * KubeconfigNeeded; the runner has the kubeconfig issued and runs the template again, as for contents of components.
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
  /** Of the shoot or service account; empty for `own`. */
  readonly name: string;
  readonly namespace: string;
  readonly expirationSeconds: number;
  /** A Target object, or what the template takes for one. */
  readonly target: unknown;
}

/** A kubeconfig, or the message why it was not issued. */
export type Issued =
  | {
      /** Text in base64. */
      readonly kubeconfig: string;
      /** RFC 3339; not every access ends. */
      readonly expirationTimestamp?: string | undefined;
    }
  | { readonly problem: string };

/** Issued kubeconfigs by the keys of their requests. Plain data, so that it can be sent to other processes. */
export type IssuedByKey = Readonly<Record<string, Issued>>;

/** The same for equal requests; it does not contain them. */
export const keyOf = (request: KubeconfigRequest): string =>
  createHash('sha256').update(goJson(request)).digest('base64');

/** Not a failure: the kubeconfig has to be issued, then the work is done again. */
export class KubeconfigNeeded extends Error {
  override readonly name = 'KubeconfigNeeded';
  /** JSON of the request: errors travel between processes with fields of text only. Never to be logged. */
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

/** Engines wrap what functions throw, each in its own words; the cause stays. */
export function kubeconfigNeeded(error: unknown): KubeconfigRequest | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof KubeconfigNeeded) return JSON.parse(at.request) as KubeconfigRequest;
  }
  return undefined;
}
