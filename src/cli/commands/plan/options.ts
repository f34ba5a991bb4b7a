/** Options of every command that plans. */
export interface PlanningOptions {
  readonly config?: string;
  readonly deployer?: readonly string[];
  /** Whether the credentials for registries in the configuration are used; default true. */
  readonly registryCredentials?: boolean;
}

/** The same options as arguments, for another process in the same folder. */
export const planningArgs = ({ config, deployer = [] }: PlanningOptions): readonly string[] => [
  ...(config === undefined ? [] : ['--config', config]),
  ...deployer.flatMap((each) => ['--deployer', each]),
];
