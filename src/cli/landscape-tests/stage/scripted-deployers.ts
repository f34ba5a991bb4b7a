/**
 * Deployers for landscape tests: those of the product, except that the test may answer in their place, and that every
 * target leads to the embedded API server.
 */
import { passthrough } from '../../../../deployers/sdk/codec.ts';
import type { KubeAccess } from '../../../../deployers/sdk/access.ts';
import type { DeployContext, DeployerPlugin } from '../../../../deployers/sdk/deployer.ts';
import { RetryError } from '../../../../deployers/sdk/errors.ts';
import { done, fail, wait, type Outcome } from '../../../../deployers/sdk/outcome.ts';
import { timeoutAt } from '../../../../deployers/sdk/timeout.ts';
import type { ResolvedTarget } from '../../../../deployers/sdk/target.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import { parseDuration } from '../../../lib/duration.ts';
import type { View } from '../../../lib/objects.ts';
import { itemTypes } from '../../names.ts';
import type { Answer } from '../file/schema.ts';
import type { AnswerBook } from './answers.ts';

interface Script {
  /** The path of an item in its tree. */
  pathOf(item: View<DeployItem>): Promise<string>;
  readonly answers: AnswerBook;
  /** Whether target clusters cannot be reached now. */
  isOutage(): boolean;
  /** The embedded API server. */
  readonly access: KubeAccess;
}

/** @param moreTypes types of deploy items that no deployer of the product handles */
export const scriptedPlugins =
  (script: Script, moreTypes: readonly string[]) =>
  (own: readonly DeployerPlugin[]): readonly DeployerPlugin[] => [
    ...own.map((plugin) => scripted(plugin, script)),
    ...moreTypes
      .filter((type) => !own.some((plugin) => plugin.type === type))
      .map((type) => scripted(absentDeployer(type), script)),
  ];

function scripted(plugin: DeployerPlugin, script: Script): DeployerPlugin {
  const answered =
    (work: (ctx: DeployContext) => Promise<Outcome>) =>
    async (ctx: DeployContext): Promise<Outcome> => {
      const path = await script.pathOf(ctx.item);
      const answer = script.answers.answerFor(path, ctx.item.status?.jobID ?? '');
      if (answer && !answer.deployer) return give(answer, ctx);
      if (plugin.type === itemTypes.container)
        return noAnswer(path, 'the programs of container items do not run');
      return work(withEmbeddedTargets(ctx, script));
    };
  return {
    ...plugin,
    // All targets lead to the same server, whatever their addresses are.
    hasInventory: false,
    apply: answered((ctx) => plugin.apply(ctx)),
    // What was only answered has nothing to uninstall.
    remove: async (ctx) => {
      if (
        !script.answers.isAlwaysAnswered(await script.pathOf(ctx.item)) &&
        plugin.type !== itemTypes.container
      )
        return plugin.remove(withEmbeddedTargets(ctx, script));
      const exported = ctx.item.status?.exportRef?.name;
      if (exported !== undefined) await ctx.host.deleteSecret(exported);
      return done();
    },
  };
}

const STARTED = 'landscape-test-started';
/** Only the timeout of the item ends such a wait. */
const NEVER_MS = 60_000;

function give(answer: Answer, { scratch, clock }: DeployContext): Outcome {
  const startedAt = (scratch.get(STARTED) as number | undefined) ?? clock.now();
  scratch.set(STARTED, startedAt);
  if (answer.never) return wait({ requeueAfterMs: NEVER_MS, onTimeout: timeoutAt('answer of the test') });
  const leftMs = startedAt + parseDuration(answer.after ?? '0s') - clock.now();
  if (leftMs > 0) return wait({ requeueAfterMs: leftMs });
  if (answer.fails !== undefined)
    return fail({ operation: 'Answer', reason: 'TestAnswer', message: answer.fails });
  return done({ ...(answer.exports && { exports: { value: answer.exports } }) });
}

const noAnswer = (path: string, why: string): Outcome =>
  fail({
    operation: 'Answer',
    reason: 'NoAnswer',
    message: `${why} in landscape tests; set the result of "${path}" in the field answers`,
  });

/** For items of other programs. */
const absentDeployer = (type: string): DeployerPlugin => ({
  type,
  name: 'landscape-test',
  version: '0.1.0',
  config: passthrough,
  apply: async () =>
    Promise.resolve(
      fail({
        operation: 'Answer',
        reason: 'NoAnswer',
        message: `no deployer of Espalier handles items of type "${type}"; set their results in the field answers`,
      }),
    ),
  remove: async () => Promise.resolve(done()),
});

const withEmbeddedTargets = (ctx: DeployContext, script: Script): DeployContext => ({
  ...ctx,
  target: ctx.target && embedded(ctx.target, script),
  secondaryTarget: async (name) => embedded(await ctx.secondaryTarget(name), script),
});

const embedded = (target: ResolvedTarget, script: Script): ResolvedTarget => ({
  ...target,
  kube: async () => {
    // The content of the target is checked as usual, although it is not used.
    await target.kubeconfig();
    if (script.isOutage())
      throw new RetryError({
        operation: 'TargetAccess',
        reason: 'ensureTargetAccess',
        message: `the target cannot be used: the cluster of target ${target.name} cannot be reached (outage of the test)`,
      });
    return { ...script.access, close: () => Promise.resolve() };
  },
});
