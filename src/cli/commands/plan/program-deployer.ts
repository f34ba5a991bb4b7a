/** `--deployer COMMAND`: a deployer in another language, which only plans. */
import { passthrough } from '../../../../deployers/sdk/codec.ts';
import type { DeployContext, DeployerPlugin, ResolvedTarget } from '../../../../deployers/sdk/index.ts';
import { planOfProgram } from '../../../../deployers/sdk/plan-program.ts';
import type { RequestedTarget } from '../../../../deployers/sdk/plan-protocol.ts';
import { GROUP } from '../../../api/labels.ts';
import { parseYaml } from '../../../lib/yaml.ts';

const CLUSTER_TYPE = `${GROUP}/kubernetes-cluster`;

const onlyPlans = (): Promise<never> =>
  Promise.reject(new Error('this deployer can only be asked for plans'));

/** @param command the program and its arguments */
export const programDeployer = (type: string, command: readonly string[]): DeployerPlugin => ({
  type,
  name: command[0] ?? '',
  version: '',
  config: passthrough,
  apply: onlyPlans,
  remove: onlyPlans,
  plan: async ({ item, target, clock, signal }: DeployContext, direction) => {
    const request = { direction, deployItem: item, target: target && (await requested(target)) };
    return planOfProgram(command, request, { clock, signal });
  },
});

const requested = async (target: ResolvedTarget): Promise<RequestedTarget> => ({
  name: target.name,
  namespace: target.namespace,
  type: target.type,
  ...(target.content !== undefined && { config: parseYaml(target.content) }),
  ...(target.type === CLUSTER_TYPE && { kubeconfig: await target.kubeconfig() }),
});
