/** One call of the helm program for an item: with its target, for as long as its job may take, and what helm says of it. */
import { ConfigurationError, RetryError } from '../sdk/errors.ts';
import { complaintOf, findHelm, HelmMissing, type Helm, type HelmAnswer } from './helm-cli.ts';
import { maskFor } from './problems.ts';
import type { HelmOptions, HelmContext } from './helm-context.ts';

export const OPERATION = 'RealHelmDeployer.Deploy';

interface Call {
  readonly args: readonly string[];
  readonly files: Readonly<Record<string, Uint8Array | string>>;
}

export async function callHelm(
  ctx: HelmContext,
  options: HelmOptions,
  call: (major: number) => Call,
): Promise<HelmAnswer> {
  const helm = helmOf(options);
  const kubeconfig = await ctx.target?.kubeconfig();
  if (kubeconfig === undefined)
    throw new RetryError({
      operation: OPERATION,
      reason: 'ensureTargetAccess',
      message: 'no target defined',
    });
  return helm.run({ ...call(helm.major), kubeconfig, signal: ctx.signal });
}

/** @throws ConfigurationError when there is none */
export function helmOf({ executable }: HelmOptions): Helm {
  try {
    return findHelm(executable);
  } catch (error) {
    if (!(error instanceof HelmMissing)) throw error;
    throw new ConfigurationError({ operation: OPERATION, reason: 'HelmMissing', message: error.message });
  }
}

export const shown = (answer: HelmAnswer, { config }: HelmContext): string =>
  maskFor(config)(complaintOf(answer));
