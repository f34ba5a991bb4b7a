/**
 * Limits for one installation. Controllers, webhooks and commands apply the same limits, from the same
 * configuration keys.
 */

export interface InstallationLimits {
  /** Deploy items of an execution, or of all deploy executions of a blueprint. */
  readonly deployItems: number;
  /** MiB of these items as JSON, which is the unpacked size of their compressed form. */
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
 * The highest limits that can be configured. Reading a hostile list of 32 MiB takes nearly 800 MiB of memory, and
 * `espalier install` gives the controllers 1 GiB.
 */
export const maximumLimits: InstallationLimits = {
  deployItems: 100_000,
  deployItemsMiB: 24,
  subinstallations: 100_000,
};

/** What to do about an exceeded limit; ends the error message. */
export const wayOut = (key: keyof InstallationLimits): string =>
  `divide them among sub-installations, or raise limits.${key} in the configuration`;
