/** The environment variables of a program in a pod. */
import { paths, variables } from '../contract.ts';
import type { ItemRef } from '../names.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A variable is missing. */
export class EnvironmentProblem extends Error {
  override readonly name = 'EnvironmentProblem';
}

export interface Environment {
  readonly item: ItemRef;
  /** The pod of this program. */
  readonly pod: { readonly namespace: string; readonly name: string };
  readonly imports: string;
  readonly exports: string;
  readonly state: string;
  readonly content: string;
  readonly componentDescriptor: string;
  readonly target: string;
  readonly configuration: string;
  readonly targetSource: string;
  readonly registrySecrets: string;
  readonly ocmConfiguration: string;
  /** undefined: the secrets are found by label. */
  readonly stateSecrets: readonly string[] | undefined;
  /** Whether the wait container is a native sidecar. */
  readonly isSidecar: boolean;
}

/** @throws EnvironmentProblem with the name of the missing variable */
export function readEnvironment(env: Env): Environment {
  const needed = (name: string): string => {
    const value = env[name];
    if (value) return value;
    throw new EnvironmentProblem(
      `the variable ${name} is not set; the deployer sets it for the containers of its pods`,
    );
  };
  const path = (name: string, usual: string): string => env[name] || usual;
  const state = env[variables.stateSecrets];
  return {
    item: { namespace: needed(variables.itemNamespace), name: needed(variables.itemName) },
    pod: { namespace: needed(variables.podNamespace), name: needed(variables.podName) },
    imports: path(variables.imports, paths.imports),
    exports: path(variables.exports, paths.exports),
    state: path(variables.state, paths.state),
    content: path(variables.content, paths.content),
    componentDescriptor: path(variables.componentDescriptor, paths.componentDescriptor),
    target: path(variables.target, paths.target),
    configuration: path(variables.configuration, paths.configuration),
    targetSource: path(variables.targetSource, paths.targetSource),
    registrySecrets: path(variables.registrySecrets, paths.registrySecrets),
    ocmConfiguration: path(variables.ocmConfiguration, paths.ocmConfiguration),
    stateSecrets: state?.split(',').filter((name) => name !== ''),
    isSidecar: env[variables.sidecar] === 'true',
  };
}
