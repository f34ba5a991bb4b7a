/**
 * Runs the helm program for an item: with access to its target, within the time of its job, and with masked output.
 */
import { ConfigurationError, RetryError } from '../sdk/errors.ts';
import { asJson } from '../sdk/kubeconfig.ts';
import { errorMessageOf, findHelm, HelmMissing, type Helm, type HelmAnswer } from './helm-cli.ts';
import { maskFor, OPERATION } from './errors.ts';
import type { HelmOptions, HelmContext } from './helm-context.ts';

export type HelmFiles = Readonly<Record<string, Uint8Array | string>>;

interface Call {
  readonly args: readonly string[];
  readonly files: HelmFiles;
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
  return helm.run({ ...call(helm.major), kubeconfig: asJson(kubeconfig), signal: ctx.signal });
}

/** @throws ConfigurationError if the helm program is missing */
export function helmOf({ executable }: HelmOptions): Helm {
  try {
    return findHelm(executable);
  } catch (error) {
    if (!(error instanceof HelmMissing)) throw error;
    throw new ConfigurationError({ operation: OPERATION, reason: 'HelmMissing', message: error.message });
  }
}

export const shown = (answer: HelmAnswer, { config }: HelmContext): string =>
  maskFor(config)(errorMessageOf(answer));
