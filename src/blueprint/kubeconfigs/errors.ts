/** Why a kubeconfig cannot be had. */

export class KubeconfigProblem extends Error {
  /** Whether asking again may help. */
  readonly isPassing: boolean = false;

  override get name(): string {
    return this.constructor.name;
  }
}

/** The cluster that issues kubeconfigs cannot be reached, or is busy. */
export class IssuerUnavailable extends KubeconfigProblem {
  override readonly isPassing = true;
}

/** A template asks for more than it can be meant to. */
export class TooManyKubeconfigs extends KubeconfigProblem {
  constructor(limit: number) {
    super(
      `the templates of an installation may request ${String(limit)} different kubeconfigs; a call with arguments that ` +
        'change randomly or over time requests a new one each time: use constant arguments',
    );
  }
}
