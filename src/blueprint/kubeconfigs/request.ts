/**
 * Kubeconfigs that templates ask for. A template runs without waiting for anybody, so it is interrupted with
 * KubeconfigNeeded; whoever runs it has the kubeconfig issued and runs it again, as with contents of components.
 */
import { createHash } from 'node:crypto';
import { goJson } from '../../lib/gojson.ts';

/** What is asked for, as a template said it. */
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

/** A kubeconfig, or the sentence that says why there is none. */
export type Issued =
  | {
      /** Text in base64. */
      readonly kubeconfig: string;
      /** RFC 3339; not every access ends. */
      readonly expirationTimestamp?: string | undefined;
    }
  | { readonly problem: string };

/** What was issued, by the keys of the requests. Plain data, so that other processes can have it. */
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

/** What is asked for, without anything that is secret. */
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
