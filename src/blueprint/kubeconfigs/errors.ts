/** Why a kubeconfig is not available. */
import type { Outlook } from '../../lib/outlook.ts';

export class KubeconfigProblem extends Error {
  readonly outlook: Outlook = 'final';

  get isPassing(): boolean {
    return this.outlook === 'passing';
  }

  override get name(): string {
    return this.constructor.name;
  }
}

/** The cluster that issues kubeconfigs is unreachable or busy. */
export class IssuerUnavailable extends KubeconfigProblem {
  override readonly outlook = 'passing';
}

/** A template requests more kubeconfigs than the limit. */
export class TooManyKubeconfigs extends KubeconfigProblem {
  constructor(limit: number) {
    super(
      `the templates of an installation may request ${String(limit)} different kubeconfigs; a call with arguments that ` +
        'change randomly or over time requests a new one each time: use constant arguments',
    );
  }
}
