/** The kubeconfigs that were issued in one reconcile for a blueprint. */
import type { Issued, IssuedByKey, KubeconfigRequest } from './request.ts';
import { keyOf } from './request.ts';
import { TooManyKubeconfigs } from './errors.ts';

/**
 * Requests a kubeconfig from a cluster. A permanent rejection is a result.
 * @throws KubeconfigProblem if a retry may help
 */
export type IssueKubeconfig = (request: KubeconfigRequest) => Promise<Issued>;

const MAX_KUBECONFIGS = 50;

export class IssuedKubeconfigs {
  readonly #issue: IssueKubeconfig;
  #byKey: IssuedByKey = {};

  constructor(issue: IssueKubeconfig) {
    this.#issue = issue;
  }

  get byKey(): IssuedByKey {
    return this.#byKey;
  }

  /** All kubeconfigs as strings, to be masked. */
  get secrets(): readonly string[] {
    return Object.values(this.#byKey).flatMap((issued) =>
      'problem' in issued
        ? []
        : [Buffer.from(issued.kubeconfig, 'base64').toString('utf8'), issued.kubeconfig],
    );
  }

  /** @throws KubeconfigProblem */
  async fetch(request: KubeconfigRequest): Promise<void> {
    if (Object.keys(this.#byKey).length >= MAX_KUBECONFIGS) throw new TooManyKubeconfigs(MAX_KUBECONFIGS);
    const issued = await this.#issue(request);
    this.#byKey = { ...this.#byKey, [keyOf(request)]: issued };
  }
}
