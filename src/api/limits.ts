/** What one installation may have. Controllers, webhooks and commands count by the same limits, from the same keys. */

export interface InstallationLimits {
  /** Deploy items of an execution, or of all deploy executions of a blueprint. */
  readonly deployItems: number;
  /** MiB of these items as JSON, which is what their compressed form unpacks to. */
  readonly deployItemsMiB: number;
  /** Sub-installations of a blueprint. */
  readonly subinstallations: number;
}

export const defaultLimits: InstallationLimits = {
  deployItems: 10_000,
  deployItemsMiB: 16,
  subinstallations: 10_000,
};

/**
 * The most that the configuration may say. A list of 32 MiB that is made to fill the memory takes nearly 800 MiB while it is
 * read, and `espalier install` gives the controllers 1 GiB.
 */
export const maximumLimits: InstallationLimits = {
  deployItems: 100_000,
  deployItemsMiB: 24,
  subinstallations: 100_000,
};

/** The way out that sentences about a limit end with. */
export const wayOut = (key: keyof InstallationLimits): string =>
  `divide them among sub-installations, or raise limits.${key} in the configuration`;
