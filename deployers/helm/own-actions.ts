/** Carries out actions in this process. */
import { ChartStopped, HelmError } from '../../src/templating/helm/errors.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { ActionProblem, ApplyStep, ReleaseActions } from './actions.ts';
import { configurationError, maskFor } from './errors.ts';
import { chartsFor, type HelmContext, type HelmOptions } from './helm-context.ts';
import { podsIn, ReleaseError, type ReleaseTarget } from './release/cluster.ts';
import { discardInterrupted } from './release/interrupted.ts';
import { install } from './release/install.ts';
import type { ActionSettings, ChartInput } from './release/settings.ts';
import { ReleaseNotFound, uninstall } from './release/uninstall.ts';
import { upgrade } from './release/upgrade.ts';
import { capabilitiesOf, lookupFrom } from './target-facts.ts';

export function ownActions(ctx: HelmContext, access: KubeAccess, options: HelmOptions): ReleaseActions {
  const { config, signal } = ctx;
  const target: ReleaseTarget = {
    access,
    name: config.name,
    namespace: config.namespace,
    charts: chartsFor(ctx, options),
    clock: ctx.clock,
    signal,
    mask: maskFor(config),
    warn: (message, err) => {
      ctx.log.warn(
        { release: `${config.namespace}/${config.name}`, err, problem: message },
        'release action had a problem',
      );
    },
  };
  const inputOf = ({ chart }: ApplyStep): ChartInput => ({
    chart,
    values: config.values,
    capabilities: () => capabilitiesOf(access, chart, ctx),
    lookup: (definitions) => lookupFrom(access, signal, () => Promise.resolve(definitions)),
  });
  const settingsOf = (action: 'install' | 'upgrade', { timeoutMs }: ApplyStep): ActionSettings => {
    const { force, wait, atomic, takeOwnership } = config[action];
    return { force, waits: wait, isAtomic: atomic, takesOwnership: takeOwnership, timeoutMs };
  };
  return {
    check: () => undefined,
    install: (step) =>
      problemIn(ctx, 'INSTALLATION FAILED: ', () => {
        const { createNamespace: createsNamespace } = config;
        const settings = { ...settingsOf('install', step), createsNamespace, replaces: step.isReinstall };
        return install(inputOf(step), settings, target);
      }),
    upgrade: (step) =>
      problemIn(ctx, 'UPGRADE FAILED: ', () => upgrade(inputOf(step), settingsOf('upgrade', step), target)),
    uninstall: ({ name, namespace, waits, timeoutMs }) =>
      problemIn(ctx, '', () =>
        uninstall({ waits, keepsHistory: false, timeoutMs }, { ...target, name, namespace }),
      ),
    discard: (record) => discardInterrupted(record, target),
  };
}

/** @returns why the work failed. @throws errors of the target and of the chart that end the job */
async function problemIn(
  { config, signal }: HelmContext,
  prefix: string,
  work: () => Promise<void>,
): Promise<ActionProblem | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ReleaseNotFound) return undefined;
    if (error instanceof ChartStopped) throw configurationError('RenderHelmValues', error.message, error);
    if (!(error instanceof ReleaseError) && !(error instanceof HelmError)) throw error;
    const text = maskFor(config)(prefix + error.message);
    const pods = podsIn(error);
    const message = pods.length > 0 ? `${text.trimEnd()}\n${pods.join('\n')}` : text;
    return { message, cause: error };
  }
}
