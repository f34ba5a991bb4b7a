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
      `the templates of an installation may ask for ${String(limit)} different kubeconfigs; those whose arguments ` +
        'change with chance or time are asked for again and again: give them the same arguments each time',
    );
  }
}
